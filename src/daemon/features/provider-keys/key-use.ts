import { RecentMap } from '../../../shared/recent-map.ts';
import type { Changes } from '../../base/changes.ts';
import { repeatedly, type World } from '../../base/world.ts';
import type { Vault } from '../vault/index.ts';
import type { HostKeys } from './host-keys.ts';
import { OpenedKeys } from './opened-keys.ts';
import type { ProviderKeysStore } from './store.ts';

const workspacesKept = 10_000;
const expireEveryMs = 15_000;
const none: ReadonlySet<string> = new Set();

/** The name under which the vault seals a workspace's key for a provider. */
export function secretName(workspaceId: string, provider: string): string {
  return `provider-key|${workspaceId}|${provider}`;
}

/** Workspaces' own keys as model calls use them: which exist, and the keys themselves, both cached in memory. */
export class KeyUse {
  readonly #store: Pick<ProviderKeysStore, 'list'>;
  readonly #vault: Pick<Vault, 'open'>;
  readonly #world: Pick<World, 'elapsed' | 'sleep'>;
  readonly #opened: OpenedKeys;
  readonly #providers = new RecentMap<string, ReadonlySet<string>>(workspacesKept);
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
    deps.changes.subscribe('provider_key', ({ workspaceId, provider }) => {
      this.#changes += 1;
      this.#opened.forget(secretName(workspaceId, provider));
      this.#providers.delete(workspaceId);
    });
  }

  /** The providers for which a workspace has its own keys. */
  providersOf(workspaceId: string): ReadonlySet<string> | Promise<ReadonlySet<string>> {
    return this.#providers.get(workspaceId) ?? this.#read(workspaceId);
  }

  async #read(workspaceId: string): Promise<ReadonlySet<string>> {
    const changes = this.#changes;
    const records = await this.#store.list(workspaceId);
    const providers = records.length === 0 ? none : new Set<string>(records.map(({ provider }) => provider));
    if (changes !== this.#changes) return providers;
    this.#providers.set(workspaceId, providers);
    return providers;
  }

  /** Decrypts the key. Fails with `unavailable` and the remedy. */
  async keyOf(workspaceId: string, provider: string): Promise<string> {
    const name = secretName(workspaceId, provider);
    const cached = this.#opened.get(name);
    if (cached !== undefined) return cached;
    const changes = this.#changes;
    const key = await this.#vault.open(name);
    const text = key.toString('utf8');
    if (changes === this.#changes) this.#opened.set(name, key);
    else key.fill(0);
    return text;
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
