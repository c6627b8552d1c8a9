import { openApiDocument } from '../shared/contract/openapi.ts';
import type { MakeId } from '../shared/ids.ts';
import { apiVersion } from '../shared/version.ts';
import { aboutHandlers } from './features/about/index.ts';
import { Catalog, catalogHandlers, LiveSpeed } from './features/catalog/index.ts';
import { type EventFeed, eventFeed, eventHandlers } from './features/events/index.ts';
import { createSealer, inferenceHandlers } from './features/inference/index.ts';
import { authenticator, keyHandlers, keys as makeKeys, sha256 } from './features/keys/index.ts';
import { createAdmission, recoverHolds, usageHandlers, usageReader } from './features/metering/index.ts';
import { type Bench, createRouter, Health } from './features/routing/index.ts';
import { bootstrap, workspaces as makeWorkspaces } from './features/workspaces/index.ts';
import type { Handler } from './handler.ts';
import type { Provider } from './providers.ts';
import { type ProcessFacts, statusReader } from './status.ts';
import type { Storage } from './storage/storage.ts';
import { repeatedly, type World } from './world.ts';

export interface AppNeeds {
  storage: Storage;
  world: World;
  makeId: MakeId;
  providers: readonly Provider[];
  aliases: Record<string, string>;
  /** In millionths. */
  marginPpm: number;
  responsesKeptMs: number;
  /** Seals reasoning; 32 bytes. */
  dataKey: Uint8Array;
  log: { warn(details: object, message: string): void };
  /** What only the process knows of itself. */
  process: ProcessFacts;
  /** Begins to stop the daemon. */
  stop: () => void;
}

const expireEveryMs = 10 * 60 * 1000;
const expiredAtOnce = 500;

/** Joins the rooms: the only place that sees features and edges at once. */
export function createApp(needs: AppNeeds) {
  const features = createFeatures(needs);
  const { storage, world, log } = needs;
  const { authentication, catalog, events, providers } = features;
  return {
    handlers: handlersOf(needs, features),
    authenticate: authentication.authenticate,
    catalog,
    closeEvents: events.close,
    /** Makes what the first start needs; the secrets that have to be written down come back. */
    bootstrap: features.bootstrap,
    /** Settles what an earlier daemon left behind when it died. */
    recover: () =>
      recoverHolds({ store: storage.metering, now: () => world.now(), marginPpm: needs.marginPpm }),
    addProviders(added: readonly Provider[]): void {
      for (const provider of added) providers.set(provider.upstream.name, provider);
      catalog.replaceProviders([...providers.values()].map((provider) => provider.description));
    },
    /** What goes on beside the calls, until aborted. */
    async runBackground(signal: AbortSignal): Promise<void> {
      const onFailure = (error: unknown) => log.warn({ err: error }, 'background work failed');
      await Promise.all([
        authentication.keepFlushed(world, signal, onFailure),
        events.keepPruned(signal, onFailure),
        repeatedly(world, { everyMs: expireEveryMs, signal, onFailure }, () => removeExpired(needs, signal)),
      ]);
    },
  };
}

/**
 * Deletes stored responses whose time is over, a bounded number at once so that writes of calls get between; a stop does
 * not wait for the rest of them.
 */
async function removeExpired({ storage, world }: AppNeeds, signal: AbortSignal): Promise<void> {
  let removed = 1;
  while (removed > 0 && !signal.aborted) {
    removed = await storage.responses.removeExpired(world.now(), expiredAtOnce);
  }
}

/** The features that have state, each with what it needs. */
function createFeatures(needs: AppNeeds) {
  const { storage, world, makeId, marginPpm } = needs;
  const now = () => world.now();
  const randomBytes = (count: number) => world.randomBytes(count);
  const providers = new Map(needs.providers.map((provider) => [provider.upstream.name, provider]));
  const descriptions = needs.providers.map((provider) => provider.description);
  const events = eventFeed({ store: storage.events, world });
  const live = new LiveSpeed(world);
  const hostWorkspace = { id: undefined as string | undefined };
  const health = new Health(world, {
    onBench: (bench) => tellBenched(events, hostWorkspace.id, bench, now()),
  });
  const catalog = new Catalog({ world, providers: descriptions, aliases: needs.aliases });
  const workspaces = makeWorkspaces({ store: storage.workspaces });
  const usage = usageReader({ store: storage.metering, now });
  const authentication = authenticator({
    keysStore: storage.keys,
    workspacesStore: storage.workspaces,
    digest: sha256,
    now,
  });
  const keys = makeKeys({
    store: storage.keys,
    logins: storage.workspaces,
    workspaces,
    usage,
    events,
    authenticator: authentication,
    digest: sha256,
    makeId,
    randomBytes,
    now,
  });
  const router = createRouter({
    catalog,
    health,
    live,
    world,
    marginPpm,
    upstreams: { get: (name) => providers.get(name)?.upstream },
    keyFor: (route) => providers.get(route.provider)?.key,
  });
  const first = { store: storage.workspaces, keys, digest: sha256, makeId, randomBytes, now };
  return {
    authentication,
    async bootstrap(files: Parameters<typeof bootstrap>[1]) {
      const made = await bootstrap(first, files);
      hostWorkspace.id = made.workspaceId;
      return made;
    },
    catalog,
    events,
    health,
    keys,
    live,
    now,
    providers,
    randomBytes,
    router,
    usage,
    workspaces,
  };
}

type Features = ReturnType<typeof createFeatures>;

/** Whoever runs the daemon hears that a provider is left out for a while. */
function tellBenched(events: EventFeed, workspaceId: string | undefined, bench: Bench, at: number): void {
  if (workspaceId === undefined) return;
  const { provider, providerModel: model = null, reason, retryAfterMs } = bench;
  const data = { provider, model, reason, retry_after_ms: Math.round(retryAfterMs) };
  void events.record({ type: 'provider.benched', workspaceId, at, data });
}

/** Every endpoint of the daemon. */
function handlersOf(needs: AppNeeds, features: Features): Handler[] {
  const { storage, world, makeId, marginPpm, log } = needs;
  const { catalog, events, live, usage, workspaces } = features;
  const handlers: Handler[] = [
    ...inferenceHandlers({
      world,
      makeId,
      router: features.router,
      admission: createAdmission({ store: storage.metering, state: storage.state }),
      metering: storage.metering,
      responses: storage.responses,
      sealer: createSealer(needs.dataKey, features.randomBytes),
      marginPpm,
      responsesKeptMs: needs.responsesKeptMs,
      publish: events.publish,
      onSettled: events.announce,
      log,
    }),
    ...catalogHandlers({ catalog, live, marginPpm, world }),
    ...keyHandlers(features.keys),
    ...usageHandlers(usage),
    ...eventHandlers(events),
    ...aboutHandlers({
      requireDaemonOwner: workspaces.requireDaemonOwner,
      status: statusReader({ ...features, storage, facts: needs.process }),
      stop: needs.stop,
      pid: needs.process.pid,
      storageState: storage.state,
      openApiDocument: () =>
        openApiDocument(
          handlers.map(({ endpoint }) => endpoint),
          { version: apiVersion },
        ),
    }),
  ];
  return handlers;
}
