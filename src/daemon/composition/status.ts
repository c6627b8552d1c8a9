import type { DaemonStatus, ProviderStatus } from '../../shared/contract/daemon.ts';
import { isoTime } from '../../shared/time.ts';
import { type Catalog, defaultModel } from '../features/catalog/index.ts';
import type { Health } from '../features/routing/index.ts';
import type { Vault } from '../features/vault/index.ts';
import type { Storage } from '../storage/storage.ts';
import type { Provider } from './providers-from-config.ts';

export interface ProcessFacts {
  /** Known once the daemon listens. */
  url: () => string;
  /** The path of the Unix socket; null where there is none. */
  socket: string | null;
  pid: number;
  version: string;
  dataFolder: string;
  /** Milliseconds since 1970. */
  startedAt: number;
}

interface StatusDeps {
  catalog: Catalog;
  health: Health;
  providers: ReadonlyMap<string, Provider>;
  storage: Pick<Storage, 'state'>;
  ownKeys: { vault: Pick<Vault, 'status'> };
  facts: ProcessFacts;
  /** Milliseconds of a clock that only goes forward. */
  elapsed: () => number;
}

/** Reads how the daemon is doing, for the person who runs it. */
export function statusReader(deps: StatusDeps) {
  const { catalog, health, providers, storage, ownKeys, facts, elapsed } = deps;
  const beganAt = elapsed();
  return async (): Promise<DaemonStatus> => {
    const { writable, reason } = storage.state();
    const all = await catalog.all();
    const vault = await ownKeys.vault.status();
    // What a workspace's own key is refused for says nothing of the host's account.
    const ofHost = health.benches().filter(({ account, provider }) => account === provider);
    const benched = new Map(ofHost.map((bench) => [bench.provider, bench.reason]));
    const descriptions = [...providers.values()].map(({ description }) => description);
    return {
      url: facts.url(),
      socket: facts.socket,
      pid: facts.pid,
      version: facts.version,
      started_at: isoTime(facts.startedAt),
      uptime_ms: Math.round(elapsed() - beganAt),
      data_dir: facts.dataFolder,
      default_model: defaultModel(all, descriptions),
      storage: { writable, reason: reason ?? null },
      vault: { state: vault.state, store: vault.store, reason: vault.reason },
      providers: descriptions.map(({ name, available, reason: why, models: served }): ProviderStatus => {
        const bench = benched.get(name);
        const models = all.filter(({ offers }) => offers.some(({ provider }) => provider === name)).length;
        if (!available) return { name, state: 'unavailable', models, reason: why };
        return {
          name,
          state: bench ? 'benched' : 'available',
          models,
          reason: bench ?? anyName(name, served),
        };
      }),
    };
  };
}

/** What is not seen from a count of models: an upstream may be asked for others, too. */
function anyName(name: string, served: readonly string[] | '*' | undefined): string | null {
  return served === '*' ? `takes any name: ${name}/MODEL` : null;
}
