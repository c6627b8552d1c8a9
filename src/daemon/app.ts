import { openApiDocument } from '../shared/contract/openapi.ts';
import type { MakeId } from '../shared/ids.ts';
import { apiVersion } from '../shared/version.ts';
import { createAccounts } from './composition/accounts.ts';
import { type AdminDeps, adminHandlers } from './composition/admin-handlers.ts';
import { createListings } from './composition/listings.ts';
import type { LiveSettings } from './composition/live-settings.ts';
import { createMcpHandlers } from './composition/mcp-handlers.ts';
import { metricsOf } from './composition/metrics.ts';
import { type ModelCalls, modelCalls } from './composition/model-calls.ts';
import { createOwnKeys, type VaultSettings } from './composition/own-keys.ts';
import type { Provider } from './composition/providers-from-config.ts';
import { readReferenceAssets, sha256Base64 } from './composition/reference-assets.ts';
import { replaceProviders } from './composition/replace-providers.ts';
import { createSite } from './composition/site.ts';
import { type ProcessFacts, statusReader } from './composition/status.ts';
import { aboutHandlers } from './features/about/index.ts';
import { cacheHandlers, cachingRouter } from './features/cache/index.ts';
import { Catalog, catalogHandlers, LiveSpeed } from './features/catalog/index.ts';
import { type EventFeed, eventFeed, eventHandlers } from './features/events/index.ts';
import {
  callEvents,
  createSealer,
  type InferenceDeps,
  inferenceHandlers,
} from './features/inference/index.ts';
import { keyHandlers, sha256 } from './features/keys/index.ts';
import { creditHandlers, recoverHolds, usageHandlers, usageReader } from './features/metering/index.ts';
import { referenceHandlers } from './features/reference/index.ts';
import {
  accountOwner,
  type Bench,
  createRouter,
  Health,
  unreachableLogger,
} from './features/routing/index.ts';
import { chatHandlers, Threads, threadHandlers } from './features/threads/index.ts';
import { SettledTimes, traceHandlers } from './features/traces/index.ts';
import {
  bootstrap,
  guardOwner,
  workspaces as makeWorkspaces,
  peopleHandlers,
} from './features/workspaces/index.ts';
import type { Handler } from './handler.ts';
import { addressRateLimit } from './http/protection/rate-limit.ts';
import type { Storage } from './storage/storage.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import type { World } from './world.ts';

export interface AppDeps extends AdminDeps {
  storage: Storage;
  world: World;
  makeId: MakeId;
  providers: readonly Provider[];
  /** What may change while calls run. */
  live: LiveSettings;
  /** Seals reasoning; 32 bytes. */
  dataKey: Uint8Array;
  /** Where the key that seals provider keys may be kept. */
  vault: VaultSettings;
  log: { warn(details: object, message: string): void };
  /** Keeps what providers told of their models for the next start. */
  keepListings: (listings: string) => Promise<void>;
  /** Watches the calls. */
  telemetry: Telemetry;
  /** What only the process knows of itself. */
  process: ProcessFacts;
  /** Begins to stop the daemon. */
  stop: () => void;
}

/** Wrong login codes of one address; a code is 50 random bits. */
const guesses = { burst: 10, perSecond: 0.2 };

/** Joins the rooms: the only place that sees features and edges at once. */
export function createApp(deps: AppDeps) {
  const features = createFeatures(deps);
  const calls = modelCalls(deps, inferenceOf(deps, features));
  const { storage, world, log } = deps;
  const { authentication, catalog, events, providers } = features;
  return {
    handlers: handlersOf(deps, features, calls),
    authenticate: authenticateIn(features),
    catalog,
    vault: features.ownKeys.vault,
    closeEvents() {
      events.close();
      features.threads.close();
      features.site.close();
    },
    /** Makes what the first start deps; the secrets that have to be written down come back. */
    bootstrap: features.bootstrap,
    /** Settles what an earlier daemon left behind when it died. */
    async recover(): Promise<void> {
      await recoverHolds({
        store: storage.metering,
        now: () => world.now(),
        marginPpm: deps.live.marginPpm,
      });
      await Promise.all([calls.recover(), features.threads.recover()]);
    },
    /** Takes what was kept at an earlier run. */
    restoreListings: features.listings.restore,
    /** Waits so long for what runs without a connection, then ends it. */
    drain: calls.drain,
    addProviders(added: readonly Provider[]): void {
      for (const provider of added) providers.set(provider.upstream.name, provider);
      catalog.replaceProviders([...providers.values()].map((provider) => provider.description));
    },
    /** Takes other providers in the place of those that the configuration named before. */
    replaceProviders: (configured: readonly Provider[]) => replaceProviders(features, configured),
    /** What goes on beside the calls, until aborted. */
    async runBackground(signal: AbortSignal): Promise<void> {
      const onFailure = (error: unknown) => log.warn({ err: error }, 'background work failed');
      await Promise.all([
        authentication.keepExpiring(world, signal),
        authentication.keepFlushed(world, signal, onFailure),
        events.keepPruned(signal, onFailure),
        features.ownKeys.runBackground(signal, onFailure),
        calls.keepExpiring(signal, onFailure),
      ]);
    },
  };
}

/** The features that have state, each with what it deps. */
function createFeatures(deps: AppDeps) {
  const { storage, world, makeId } = deps;
  const now = () => world.now();
  const randomBytes = (count: number) => world.randomBytes(count);
  const providers = new Map(deps.providers.map((provider) => [provider.upstream.name, provider]));
  const descriptions = deps.providers.map((provider) => provider.description);
  const events = eventFeed({ store: storage.events, world });
  const live = new LiveSpeed(world);
  const hostWorkspace = { id: undefined as string | undefined };
  const health = new Health(world, {
    onBench: (bench) => tellBenched(events, accountOwner(bench) ?? hostWorkspace.id, bench, now()),
  });
  const catalog = new Catalog({ world, providers: descriptions, aliases: deps.live.aliases });
  const listings = createListings({ providers, catalog, keep: deps.keepListings });
  const workspaces = makeWorkspaces({ store: storage.workspaces });
  const usage = usageReader({ store: storage.metering, now });
  const accounts = createAccounts(deps, { events, usage, workspaces, hostWorkspace });
  const threads = new Threads({ store: storage.threads, world, makeId, log: deps.log });
  const site = createSite(deps, { ...accounts, workspaces, events, threads });
  const ownKeys = createOwnKeys({ ...deps, settings: deps.vault, workspaces, health, providers });
  const router = createRouter({
    catalog,
    health,
    live,
    world,
    get marginPpm() {
      return deps.live.marginPpm;
    },
    upstreams: { get: (name) => providers.get(name)?.upstream },
    onFailure: unreachableLogger(deps),
    keyFor: ownKeys.keyFor,
    ownKeysOf: ownKeys.ownKeysOf,
  });
  const first = { store: storage.workspaces, keys: accounts.keys, digest: sha256, makeId, randomBytes, now };
  return {
    ...accounts,
    async bootstrap(files: Parameters<typeof bootstrap>[1]) {
      const made = await bootstrap(first, files);
      hostWorkspace.id = made.workspaceId;
      return made;
    },
    catalog,
    events,
    hostWorkspace,
    health,
    listings,
    live,
    now,
    ownKeys,
    providers,
    randomBytes,
    router,
    settledTimes: new SettledTimes(),
    site,
    threads,
    usage,
    workspaces,
  };
}

type Features = ReturnType<typeof createFeatures>;

/** Tells who calls, and in which workspace they act. Nobody who names none pays for those who do. */
function authenticateIn({ authentication, workspaces }: Features) {
  return (
    authorization: string | undefined,
    { workspace }: { workspace?: string | string[] | undefined },
  ) => {
    const caller = authentication.authenticate(authorization);
    if (workspace === undefined) return caller;
    return workspaces.actIn(caller, String(workspace), authentication.inWorkspace);
  };
}

/** Whoever runs the daemon hears that a provider is left out for a while; of its own key, the workspace does. */
function tellBenched(events: EventFeed, workspaceId: string | undefined, bench: Bench, at: number): void {
  if (workspaceId === undefined) return;
  const { provider, providerModel: model = null, reason, retryAfterMs } = bench;
  const data = { provider, model, reason, retry_after_ms: Math.round(retryAfterMs) };
  void events.record({ type: 'provider.benched', workspaceId, at, data });
}

/** What model calls are made with. */
function inferenceOf(deps: AppDeps, features: Features): InferenceDeps {
  const { storage, world, makeId, log } = deps;
  const { events } = features;
  return {
    world,
    makeId,
    router: cachingRouter(features.router, { store: storage.cache, world, settings: deps.live.cache, log }),
    admission: features.admission,
    isPrepaid: features.isPrepaid,
    metering: storage.metering,
    responses: storage.responses,
    threads: features.threads,
    sealer: createSealer(deps.dataKey, features.randomBytes),
    settings: deps.live,
    observers: [callEvents(events), features.settledTimes, deps.telemetry],
    log,
  };
}

/** Every endpoint of the daemon. */
function handlersOf(deps: AppDeps, features: Features, calls: ModelCalls): Handler[] {
  const { storage, world, makeId } = deps;
  const { catalog, events, live, usage, workspaces } = features;
  const describe = () => {
    const described = handlers.map(({ endpoint }) => endpoint);
    return openApiDocument(described, { version: apiVersion });
  };
  const { requireDaemonOwner } = workspaces;
  const all: Handler[] = [
    ...inferenceHandlers(calls.inference, calls),
    ...catalogHandlers({
      catalog,
      live,
      listings: features.listings,
      get marginPpm() {
        return deps.live.marginPpm;
      },
      world,
    }),
    ...keyHandlers(features),
    ...creditHandlers({ credit: features.credit }),
    ...peopleHandlers({
      store: storage.people,
      workspacesStore: storage.workspaces,
      workspaces,
      endings: features.authentication,
      guesses: addressRateLimit({ ...guesses, elapsed: () => world.elapsed() }),
      events,
      digest: sha256,
      makeId,
      randomBytes: features.randomBytes,
      now: features.now,
    }),
    ...features.ownKeys.handlers,
    ...cacheHandlers({ store: storage.cache, workspaces, settings: deps.live.cache }),
    ...usageHandlers(usage),
    ...features.site.handlers,
    ...eventHandlers(events),
    ...threadHandlers(features.threads),
    ...chatHandlers(features.threads),
    ...traceHandlers({ store: storage.traces, settledTimes: features.settledTimes }),
    ...metricsOf({ ...features, telemetry: deps.telemetry, storage, requireDaemonOwner }),
    ...adminHandlers(deps, features),
    ...createMcpHandlers(deps, () => handlers),
    ...referenceHandlers({
      openApiDocument: describe,
      readAssets: readReferenceAssets,
      digest: sha256Base64,
    }),
    ...aboutHandlers({
      status: statusReader({ ...features, storage, elapsed: world.elapsed, facts: deps.process }),
      stop: deps.stop,
      pid: deps.process.pid,
      storageState: storage.state,
      openApiDocument: describe,
    }),
  ];
  const handlers = all.map((handler) => guardOwner(handler, requireDaemonOwner));
  return handlers;
}
