import type { WebhookFormat } from '../../../shared/constants/webhook-formats.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault } from '../../../shared/faults/input-faults.ts';
import type { World } from '../../base/world.ts';
import type { DataSealer } from '../vault/index.ts';
import { createHookSecret } from './hook-signature.ts';
import type { AlertHook, AlertRecord } from './store.ts';

export interface HooksDeps {
  sealer: DataSealer;
  /** Why an address cannot be that of a web hook, as the end of a sentence; undefined if it can. */
  addressProblem(url: URL, options: { mayBePrivate: boolean }): string | undefined;
  world: Pick<World, 'randomBytes'>;
}

interface OpenHook {
  url: string;
  secret: string;
}

type Owner = Pick<AlertRecord, 'workspaceId' | 'id'>;

interface HookSettings {
  webhook_url?: string | null | undefined;
  webhook_format?: WebhookFormat | null | undefined;
  new_secret?: boolean | null | undefined;
}

/** The addresses and secrets of web hooks, which are stored sealed: an address may have a secret in its path. */
export class Hooks {
  readonly #deps: HooksDeps;

  constructor(deps: HooksDeps) {
    this.#deps = deps;
  }

  /** The hook after a change, and its secret if that is new. Fails with `invalid_request`. */
  changed(
    owner: Owner,
    before: AlertHook | null,
    { webhook_url: url, webhook_format: newFormat, new_secret: isNewSecret }: HookSettings,
    { mayBePrivate }: { mayBePrivate: boolean },
  ): { hook: AlertHook | null; secret: string | null } {
    if (url === null || url === '' || (url === undefined && before === null)) {
      if (isNewSecret) throw inputFault('new_secret', 'needs a web hook');
      if (newFormat) throw inputFault('webhook_format', 'needs a web hook');
      return { hook: null, secret: null };
    }
    const kept = url === undefined && newFormat === undefined ? before?.format : newFormat;
    const format = kept ? { format: kept } : {};
    if (url === undefined && !isNewSecret && before) {
      const { format: _before, ...hook } = before;
      return { hook: { ...hook, ...format }, secret: null };
    }
    const opened = before && this.open(owner, before);
    const checked = url === undefined ? undefined : this.#checked(url, { mayBePrivate });
    const address = checked?.href ?? opened?.url;
    if (address === undefined)
      throw new ApiError('unavailable', {
        message: 'The stored web hook cannot be decrypted; set it again.',
      });
    const secret =
      isNewSecret || !opened ? createHookSecret((count) => this.#deps.world.randomBytes(count)) : null;
    const text = JSON.stringify({
      url: address,
      secret: secret ?? opened?.secret,
    } satisfies Partial<OpenHook>);
    const hook = {
      sealed: this.#deps.sealer.seal(Buffer.from(text), boundTo(owner)),
      origin: new URL(address).origin,
      mayBePrivate: checked ? mayBePrivate : (before?.mayBePrivate ?? false),
      ...format,
    };
    return { hook, secret };
  }

  /** Undefined for a hook that was sealed elsewhere. */
  open(owner: Owner, { sealed }: AlertHook): OpenHook | undefined {
    const opened = this.#deps.sealer.open(sealed, boundTo(owner));
    return opened && (JSON.parse(opened.toString()) as OpenHook);
  }

  /** Why a message cannot be sent to an address now, as the end of a sentence. */
  problemOf(url: string, { mayBePrivate }: Pick<AlertHook, 'mayBePrivate'>): string | undefined {
    return this.#deps.addressProblem(new URL(url), { mayBePrivate });
  }

  #checked(text: string, { mayBePrivate }: { mayBePrivate: boolean }): URL {
    const url = URL.parse(text);
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
      throw inputFault('webhook_url', 'must be an https URL without a user name');
    const problem = this.#deps.addressProblem(url, { mayBePrivate });
    if (problem !== undefined) throw inputFault('webhook_url', problem);
    if (url.protocol === 'http:' && !mayBePrivate)
      throw inputFault('webhook_url', 'must be an https URL: plain http is only for the owner of the host');
    url.hash = '';
    return url;
  }
}

function boundTo({ workspaceId, id }: Owner): string {
  return `alert-hook|${workspaceId}|${id}`;
}
