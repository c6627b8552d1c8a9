import type { DaemonStatus, ProviderStatus, ServiceStatus } from '../../../shared/contract/daemon.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Catalog, defaultModel, type ProviderDescription } from '../catalog/index.ts';
import type { Members } from '../daemons/index.ts';
import type { Health } from '../routing/index.ts';
import type { Vault } from '../vault/index.ts';

/** Facts that only the process knows. */
export interface ProcessFacts {
  /** Known once the daemon listens. */
  url: () => string;
  /** The path of the Unix socket; null without one. */
  socket: string | null;
  pid: number;
  version: string;
  dataFolder: string;
  /** How many threads serve model calls. */
  workers: number;
  /** Milliseconds since 1970. */
  startedAt: number;
}

export interface StatusDeps {
  catalog: Pick<Catalog, 'all'>;
  health: Pick<Health, 'hostBenches'>;
  settings: { readonly defaultModel: string | undefined };
  providers: ReadonlyMap<string, { description: ProviderDescription }>;
  storage: {
    state(): { writable: boolean; reason: string | undefined };
    /** The server of the database; undefined without one. */
    server:
      | { address: string; host: string; version: string; schemaVersion: number; warnings: readonly string[] }
      | undefined;
    members: Pick<Members, 'count'>;
  };
  vault: Pick<Vault, 'status'>;
  backendState: () => Promise<DaemonStatus['wallet']>;
  spansStatus: () => DaemonStatus['spans'];
  process: ProcessFacts;
  /** Milliseconds of a monotonic clock. */
  elapsed: () => number;
}

/** Read the status, for the person who runs the daemon and for its users. */
export function statusReaders(deps: StatusDeps) {
  const { catalog, health, settings, providers, storage, vault, process, elapsed } = deps;
  const startedElapsed = elapsed();
  const shared = async () => {
    const all = await catalog.all();
    // A name that a provider does not know says nothing about its other models.
    const benches = health
      .hostBenches((name) => providers.get(name)?.description.keys?.names)
      .filter(({ reason }) => reason !== 'unknown-model');
    const benched = new Map(benches.map((bench) => [bench.provider, bench.reason]));
    const descriptions = [...providers.values()].map(({ description }) => description);
    return {
      ...defaultModel(settings.defaultModel, all, descriptions),
      providers: descriptions.map(({ name, available, reason: why, models: served }): ProviderStatus => {
        const bench = benched.get(name);
        const models = all.filter(({ offers }) => offers.some(({ provider }) => provider === name)).length;
        if (!available) return { name, state: 'unavailable', models, reason: why };
        const state = bench ? 'benched' : 'available';
        // A count of models would hide that this upstream accepts other names, too.
        return {
          name,
          state,
          models,
          reason: bench ?? (served === '*' ? `takes any name: ${name}/MODEL` : null),
        };
      }),
    };
  };
  return {
    async status(): Promise<DaemonStatus> {
      const { writable, reason } = storage.state();
      const { state, store, reason: vaultReason } = await vault.status();
      const { providers: states, ...model } = await shared();
      return {
        url: process.url(),
        socket: process.socket,
        pid: process.pid,
        version: process.version,
        started_at: isoTime(process.startedAt),
        uptime_ms: Math.round(elapsed() - startedElapsed),
        data_dir: process.dataFolder,
        workers: process.workers,
        ...model,
        storage: { writable, reason: reason ?? null, ...databaseStatus(storage) },
        vault: { state, store, reason: vaultReason },
        wallet: await deps.backendState(),
        spans: deps.spansStatus(),
        providers: states,
      };
    },
    /** Without the reasons: they name variables and addresses of the host. */
    async serviceStatus(): Promise<ServiceStatus> {
      const { providers: states, ...model } = await shared();
      return {
        version: process.version,
        writable: storage.state().writable,
        ...model,
        providers: states.map(({ name, state, models }) => ({ name, state, models })),
      };
    },
  };
}

function databaseStatus({ server, members }: Pick<StatusDeps['storage'], 'server' | 'members'>) {
  if (server === undefined) return { engine: 'sqlite' as const, server: null };
  const { schemaVersion, warnings, ...others } = server;
  return {
    engine: 'postgresql' as const,
    server: {
      ...others,
      schema_version: schemaVersion,
      daemons: members.count(),
      warnings: [...warnings],
    },
  };
}
