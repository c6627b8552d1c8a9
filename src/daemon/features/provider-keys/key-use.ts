import { repeatedly, type World } from '../../world.ts';
import type { Vault } from '../vault/index.ts';
import { OpenedKeys } from './opened-keys.ts';
import type { ProviderKeysStore } from './provider-keys-store.ts';

const workspacesKept = 10_000;
const expireEveryMs = 15_000;
const none: ReadonlySet<string> = new Set();

/** The name that a workspace's key for a provider is sealed under. */
export function secretName(workspaceId: string, provider: string): string {
  return `provider-key|${workspaceId}|${provider}`;
}

/** What model calls ask of workspaces' own keys: which there are, and the key itself. Both from memory where it can. */
export class KeyUse {
  readonly #store: Pick<ProviderKeysStore, 'list'>;
  readonly #vault: Pick<Vault, 'open'>;
  readonly #world: Pick<World, 'elapsed' | 'sleep'>;
  readonly #opened: OpenedKeys;
  readonly #providers = new Map<string, ReadonlySet<string>>();
  /** Counts changes, so that a read from before one is not kept after it. */
  #changes = 0;

  constructor(needs: {
    store: Pick<ProviderKeysStore, 'list'>;
    vault: Pick<Vault, 'open'>;
    world: Pick<World, 'elapsed' | 'sleep'>;
  }) {
    this.#store = needs.store;
    this.#vault = needs.vault;
    this.#world = needs.world;
    this.#opened = new OpenedKeys(() => needs.world.elapsed());
  }

  /** The providers that a workspace has keys of its own for. */
  providersOf(workspaceId: string): ReadonlySet<string> | Promise<ReadonlySet<string>> {
    return this.#providers.get(workspaceId) ?? this.#read(workspaceId);
  }

  async #read(workspaceId: string): Promise<ReadonlySet<string>> {
    const changes = this.#changes;
    const records = await this.#store.list(workspaceId);
    const providers = records.length === 0 ? none : new Set<string>(records.map(({ provider }) => provider));
    if (changes !== this.#changes) return providers;
    if (this.#providers.size >= workspacesKept) this.#providers.clear();
    this.#providers.set(workspaceId, providers);
    return providers;
  }

  /** The key itself. Fails with `unavailable`, saying what helps. */
  async keyOf(workspaceId: string, provider: string): Promise<string> {
    const name = secretName(workspaceId, provider);
    const kept = this.#opened.get(name);
    if (kept !== undefined) return kept;
    const changes = this.#changes;
    const key = await this.#vault.open(name);
    const text = key.toString('utf8');
    if (changes === this.#changes) this.#opened.keep(name, key);
    else key.fill(0);
    return text;
  }

  /** The key is another from now on, or none. */
  changed(workspaceId: string, provider: string): void {
    this.#changes += 1;
    this.#opened.forget(secretName(workspaceId, provider));
    this.#providers.delete(workspaceId);
  }

  /** Overwrites keys that nobody has used for a while, until aborted; then all. */
  async keepExpiring(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    const options = { everyMs: expireEveryMs, signal, onFailure };
    await repeatedly(this.#world, options, async () => this.#opened.expire());
    this.#opened.forgetAll();
  }
}
