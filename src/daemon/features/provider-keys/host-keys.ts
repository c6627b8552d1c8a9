import { hostKeyPrefix } from '../../../shared/constants/host-keys.ts';
import { hostSecrets } from '../../../shared/masking/known-secrets.ts';
import type { Changes } from '../../base/changes.ts';
import type { World } from '../../base/world.ts';
import type { Vault } from '../vault/index.ts';
import { OpenedKeys } from './opened-keys.ts';

/** A provider or upstream as the configuration has it. */
export interface HostAccount {
  name: string;
  /** Where its key is sent. */
  baseUrl: string;
}

/**
 * The name under which the vault seals the host's key for a provider. It contains the address, so that a key that was typed for
 * one is never sent to another, whatever the configuration says later.
 */
export function hostKeyName({ name, baseUrl }: HostAccount): string {
  return `${hostKeyPrefix}${name}|${baseUrl}`;
}

interface HostKeysDeps {
  vault: Pick<Vault, 'open' | 'keep' | 'forget' | 'version' | 'names'>;
  changes: Changes;
  world: Pick<World, 'elapsed'>;
  /** Called with the names of all sealed keys when they may have changed. */
  onChange(names: ReadonlySet<string>): void;
}

/** The host's own keys for providers that were sealed in the vault, in place of variables of the environment. */
export class HostKeys {
  readonly #deps: HostKeysDeps;
  readonly #opened: OpenedKeys;

  constructor(deps: HostKeysDeps) {
    this.#deps = deps;
    this.#opened = new OpenedKeys(() => deps.world.elapsed());
    deps.changes.subscribe('host_key', async () => {
      this.#opened.forgetAll();
      await this.load();
    });
  }

  /** Reads which keys there are. */
  async load(): Promise<void> {
    this.#deps.onChange(new Set(await this.#deps.vault.names(hostKeyPrefix)));
  }

  has(account: HostAccount): Promise<boolean> {
    return this.#deps.vault.version(hostKeyName(account)).then((version) => version > 0);
  }

  /** Decrypts the key. Fails with `unavailable` and the remedy. */
  async keyOf(account: HostAccount): Promise<string> {
    return await this.#opened.read(hostKeyName(account), async (name) => {
      const key = await this.#deps.vault.open(name);
      hostSecrets.addTelling(key.toString('utf8'));
      return key;
    });
  }

  /** Seals a key in place of an earlier one for the same address. Fails with `unavailable` and the remedy. */
  async keep(account: HostAccount, key: string): Promise<void> {
    hostSecrets.addTelling(key);
    await this.#deps.vault.keep(hostKeyName(account), Buffer.from(key));
  }

  async forget(account: HostAccount): Promise<void> {
    await this.#deps.vault.forget(hostKeyName(account));
  }

  expire(): void {
    this.#opened.expire();
  }

  forgetOpened(): void {
    this.#opened.forgetAll();
  }
}
