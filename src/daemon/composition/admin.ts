import type { DaemonStatus, ProviderStatus, ServiceStatus } from '../../shared/contract/daemon.ts';
import { isoTime } from '../../shared/time.ts';
import type { ReloadableSettings } from '../config/reloadable-settings.ts';
import { aboutHandlers } from '../features/about/index.ts';
import { type BackupFile, backupHandlers } from '../features/backups/index.ts';
import { type Catalog, defaultModel } from '../features/catalog/index.ts';
import { configurationHandlers } from '../features/configuration/index.ts';
import type { EventFeed } from '../features/events/index.ts';
import type { Admission } from '../features/metering/index.ts';
import { families, metricsHandlers } from '../features/metrics/index.ts';
import type { Health } from '../features/routing/index.ts';
import type { Vault } from '../features/vault/index.ts';
import type { Caller, Handler } from '../handler.ts';
import type { Reloader } from '../process/reloader.ts';
import type { Storage } from '../storage/storage.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Provider } from '../upstream/providers-from-config.ts';
import type { World } from '../world.ts';

/** Facts that only the process knows. */
export interface ProcessFacts {
  /** Known once the daemon listens. */
  url: () => string;
  /** The path of the Unix socket; null without one. */
  socket: string | null;
  pid: number;
  version: string;
  dataFolder: string;
  /** Milliseconds since 1970. */
  startedAt: number;
}

/** What the process provides to the admin endpoints. */
export interface AdminDeps {
  storage: Storage;
  world: World;
  telemetry: Telemetry;
  reloader: Pick<Reloader, 'describe' | 'reload'>;
  /** Settings that a reload changes. */
  settings: Pick<ReloadableSettings, 'defaultModel'>;
  /** The files that belong in a backup alongside the database. */
  backupFiles: () => Promise<BackupFile[]>;
  process: ProcessFacts;
  /** Starts a graceful stop and returns immediately. */
  stop: () => void;
}

interface AdminFeatures {
  admission: Pick<Admission, 'running'>;
  catalog: Catalog;
  events: Pick<EventFeed, 'followers'>;
  health: Pick<Health, 'benches'>;
  hostWorkspace: { id: string | undefined };
  ownKeys: { vault: Pick<Vault, 'status'> };
  providers: { byName: ReadonlyMap<string, Provider> };
  /** The last known state of the Lightning back end. */
  backendState: () => Promise<DaemonStatus['wallet']>;
  workspaces: { requireDaemonOwner(caller: Caller): Promise<void> };
  now: () => number;
}

/** The endpoints that operate the daemon: status, stop, metrics, backups and configuration. */
export function adminHandlers(
  deps: AdminDeps,
  features: AdminFeatures,
  openApiDocument: () => unknown,
): Handler[] {
  const { storage, telemetry, process } = deps;
  return [
    ...backupHandlers({
      store: storage.backups,
      files: deps.backupFiles,
      version: process.version,
      now: features.now,
    }),
    ...configurationHandlers(deps.reloader),
    ...metricsHandlers({
      read: () => families(telemetry.counters, readGauges(deps, features)),
      write: telemetry.writeMetrics,
      hostWorkspace: features.hostWorkspace,
      requireDaemonOwner: features.workspaces.requireDaemonOwner,
    }),
    ...aboutHandlers({
      ...statusReaders({
        storage,
        process,
        catalog: features.catalog,
        health: features.health,
        settings: deps.settings,
        providers: features.providers.byName,
        vault: features.ownKeys.vault,
        backendState: features.backendState,
        elapsed: deps.world.elapsed,
      }),
      stop: deps.stop,
      pid: process.pid,
      storageState: storage.state,
      openApiDocument,
    }),
  ];
}

interface StatusDeps {
  catalog: Catalog;
  health: Pick<Health, 'benches'>;
  settings: Pick<ReloadableSettings, 'defaultModel'>;
  providers: ReadonlyMap<string, Provider>;
  storage: Pick<Storage, 'state'>;
  vault: Pick<Vault, 'status'>;
  backendState: () => Promise<DaemonStatus['wallet']>;
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
    const benches = hostBenches(health).filter(({ reason }) => reason !== 'unknown-model');
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
        ...model,
        storage: { writable, reason: reason ?? null },
        vault: { state, store, reason: vaultReason },
        wallet: await deps.backendState(),
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

/** Metrics that are read when they are scraped. */
function readGauges(
  { telemetry, storage }: AdminDeps,
  { admission, events, health, providers }: AdminFeatures,
) {
  const { requests, streams } = telemetry.load();
  const benches = hostBenches(health);
  const unavailable = new Set(
    benches.filter(({ providerModel }) => providerModel === undefined).map(({ provider }) => provider),
  );
  return {
    callsRunning: admission.running(),
    requestsRunning: requests,
    streamsOpen: streams,
    eventFollowers: events.followers(),
    writesWaiting: storage.writesWaiting(),
    isWritable: storage.state().writable,
    providers: [...providers.byName.values()].map(({ description: { name, available } }) => ({
      name,
      isAvailable: available && !unavailable.has(name),
    })),
    benches: benches.map(({ provider, providerModel = '', reason }) => ({
      provider,
      model: providerModel,
      reason,
    })),
  };
}

/** The benches of the host's own accounts: a rejected key of a workspace says nothing about them. */
function hostBenches(health: Pick<Health, 'benches'>) {
  return health.benches().filter(({ account, provider }) => account === provider);
}
