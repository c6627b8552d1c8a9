import { RecentMap } from '../../../shared/recent-map.ts';
import type { Changes } from '../../base/changes.ts';
import { repeatedly, type World } from '../../base/world.ts';
import type { Vault } from '../vault/index.ts';
import type { HostKeys } from './host-keys.ts';
import { OpenedKeys } from './opened-keys.ts';
import type { ProviderKeysStore } from './store.ts';

const workspacesKept = 10_000;
const expireEveryMs = 15_000;

/** The name under which the vault seals a workspace's key for a provider. */
export function secretName(workspaceId: string, provider: string, name = ''): string {
  const unnamed = `provider-key|${workspaceId}|${provider}`;
  return name === '' ? unnamed : `${unnamed}|${name}`;
}

/** The own keys of a workspace. */
interface OwnKeys {
  providers: ReadonlySet<string>;
  /** The names of the keys of each provider, in their order. */
  names: ReadonlyMap<string, readonly string[]>;
}

const noKeys: OwnKeys = { providers: new Set(), names: new Map() };

/** Workspaces' own keys as model calls use them: which exist, and the keys themselves, both cached in memory. */
export class KeyUse {
  readonly #store: Pick<ProviderKeysStore, 'list'>;
  readonly #vault: Pick<Vault, 'open'>;
  readonly #world: Pick<World, 'elapsed' | 'sleep'>;
  readonly #opened: OpenedKeys;
  readonly #keys = new RecentMap<string, OwnKeys>(workspacesKept);
  /** Counts changes, so that an older read is not cached after one. */
  #changes = 0;

  constructor(deps: {
    store: Pick<ProviderKeysStore, 'list'>;
    changes: Changes;
    vault: Pick<Vault, 'open'>;
    world: Pick<World, 'elapsed' | 'sleep'>;
  }) {
    this.#store = deps.store;
    this.#vault = deps.vault;
    this.#world = deps.world;
    this.#opened = new OpenedKeys(() => deps.world.elapsed());
    deps.changes.subscribe('provider_key', ({ workspaceId, provider, name }) => {
      this.#changes += 1;
      this.#opened.forget(secretName(workspaceId, provider, name));
      this.#keys.delete(workspaceId);
    });
  }

  /** The providers for which a workspace has its own keys. */
  providersOf(workspaceId: string): ReadonlySet<string> | Promise<ReadonlySet<string>> {
    return (
      this.#keys.get(workspaceId)?.providers ?? this.#read(workspaceId).then(({ providers }) => providers)
    );
  }

  /** The names of several keys for a provider; undefined for one key, none, or while it is not known. */
  namesOf(workspaceId: string, provider: string): readonly string[] | undefined {
    const names = this.#keys.get(workspaceId)?.names.get(provider);
    return names !== undefined && names.length > 1 ? names : undefined;
  }

  async #read(workspaceId: string): Promise<OwnKeys> {
    const changes = this.#changes;
    const records = await this.#store.list(workspaceId);
    const names = new Map<string, string[]>();
    for (const { provider, name } of records) names.set(provider, [...(names.get(provider) ?? []), name]);
    const keys = records.length === 0 ? noKeys : { providers: new Set(names.keys()), names };
    if (changes === this.#changes) this.#keys.set(workspaceId, keys);
    return keys;
  }

  /** Decrypts a key, by default the first one. Fails with `unavailable` and the remedy. */
  async keyOf(workspaceId: string, provider: string, keyName?: string): Promise<string> {
    const known = this.#keys.get(workspaceId) ?? (await this.#read(workspaceId));
    // One that is gone since the call was planned has another one in its place.
    const names = known.names.get(provider) ?? [];
    const used = keyName !== undefined && names.includes(keyName) ? keyName : names[0];
    return await this.#opened.read(secretName(workspaceId, provider, used), (name) => this.#vault.open(name));
  }

  /** Overwrites decrypted keys when they expire, and those of the host, until aborted; then all. */
  async keepExpiring(
    signal: AbortSignal,
    onFailure: (error: unknown) => void,
    host: Pick<HostKeys, 'expire' | 'forgetOpened'>,
  ): Promise<void> {
    const options = { everyMs: expireEveryMs, signal, onFailure };
    await repeatedly(this.#world, options, async () => {
      this.#opened.expire();
      host.expire();
    });
    this.#opened.forgetAll();
    host.forgetOpened();
  }
}
