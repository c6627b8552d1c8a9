import type { Endpoint } from '../shared/contract/endpoint.ts';
import { openApiDocument } from '../shared/contract/openapi.ts';
import { ApiError } from '../shared/errors.ts';
import type { MakeId } from '../shared/ids.ts';
import { apiVersion } from '../shared/version.ts';
import { createAccounts } from './composition/accounts.ts';
import { type AdminDeps, adminHandlers } from './composition/admin.ts';
import { createAutopilotFeature } from './composition/autopilots.ts';
import { createCallReporter } from './composition/call-reporter.ts';
import { createDecisions } from './composition/decisions.ts';
import { createEngine } from './composition/engine.ts';
import { createMcpHandlers } from './composition/mcp-handlers.ts';
import { createModelCalls, type ModelCalls } from './composition/model-calls.ts';
import { createOwnKeys } from './composition/own-keys.ts';
import { createPayments } from './composition/payments.ts';
import { createPaywallFeature } from './composition/paywalls.ts';
import { createProviderSet } from './composition/provider-set.ts';
import { knownEndpoint, rejectedRequests } from './composition/rejected-requests.ts';
import { createSite } from './composition/site.ts';
import { createWalletFeature } from './composition/wallets.ts';
import type { Config } from './config/config.ts';
import type { ReloadableSettings } from './config/reloadable-settings.ts';
import { agentHandlers, agentKeyView } from './features/agents/index.ts';
import { cacheHandlers, cachingRouter } from './features/cache/index.ts';
import { callEvents, createSealer, SilentStarts } from './features/calls/index.ts';
import { Catalog, catalogHandlers, SpeedMeter, unknownModels } from './features/catalog/index.ts';
import { createEventFeed, type EventFeed, eventHandlers } from './features/events/index.ts';
import { type InferenceDeps, inferenceHandlers, translatingUpstreams } from './features/inference/index.ts';
import { keyHandlers, sha256 } from './features/keys/index.ts';
import { createUsageReader, creditHandlers, recoverHolds, usageHandlers } from './features/metering/index.ts';
import { carriesPayment, type PaidCalls } from './features/payment-required/index.ts';
import { referenceHandlers } from './features/reference/index.ts';
import {
  accountOwner,
  type Bench,
  createRouter,
  Health,
  unreachableLogger,
} from './features/routing/index.ts';
import { Threads, threadHandlers } from './features/threads/index.ts';
import { Rejections, SettlementDurations, traceHandlers } from './features/traces/index.ts';
import { bootstrap, createWorkspaces, guardOwner, peopleHandlers } from './features/workspaces/index.ts';
import type { Caller, Handler } from './handler.ts';
import { readPageAssets } from './http/pages/assets.ts';
import { createRateLimit } from './http/protection/rate-limit.ts';
import type { Log } from './log.ts';
import type { CallLog } from './process/call-log.ts';
import type { VaultSettings } from './process/master-key-stores.ts';
import type { Provider } from './upstream/providers-from-config.ts';

export interface AppDeps extends AdminDeps {
  makeId: MakeId;
  providers: readonly Provider[];
  /** Settings that a reload changes while calls run. */
  settings: ReloadableSettings;
  /** Seals reasoning; 32 bytes. */
  dataKey: Uint8Array;
  vault: VaultSettings;
  /** How the Lightning back end is reached and followed. */
  connecting: Parameters<typeof createWalletFeature>[0]['connecting'];
  paywalls: Config['paywalls'];
  timeouts: Config['timeouts'];
  /** Whether only this machine reaches the host. */
  isLocalHost: boolean;
  log: Pick<Log, 'warn'>;
  /** Gets finished and rejected calls. */
  callLog: CallLog;
  /** Stores the model lists that providers returned, for the next start. */
  keepListings: (listings: string) => Promise<void>;
  /** Stores the models of the embedded engine, for the next start. */
  keepEngineModels: (models: string) => Promise<void>;
}

/** Wrong login codes per address; a code has 50 random bits. */
const loginCodeRate = { burst: 10, perSecond: 0.2 };

/** Builds the features and lists their endpoints. Only this file and `composition/` know both features and edges. */
export function createApp(deps: AppDeps) {
  const features = createFeatures(deps, { onUserRemoved: () => paywalls.update() });
  const { storage, world, settings, log } = deps;
  const { admission, authentication, events, isPrepaid, ownKeys, providers, site, threads } = features;
  const wallets = createWalletFeature(deps, { vault: ownKeys.vault, events });
  const payments = createPayments(deps, { wallets, admission, isPrepaid });
  const paywalls = createPaywallFeature(deps, { ...wallets, events, workspaces: features.workspaces });
  const { paidCalls } = payments;
  const inference = { ...inferenceOf(deps, features), paidCalls };
  const calls = createModelCalls(deps, inference);
  const { idempotency } = calls;
  const engine = createEngine(deps, features);
  const decisions = createDecisions(deps, {
    ...features,
    engine,
    idempotency,
    observers: inference.observers,
  });
  const autopilots = createAutopilotFeature(deps, {
    ...features,
    idempotency,
    payments: wallets.payments,
    handlers: () => handlers,
  });
  const money = [...wallets.handlers(idempotency), ...payments.handlers, ...paywalls.handlers(idempotency)];
  const handlers = handlersOf(deps, features, {
    calls,
    decisions,
    engine,
    money,
    autopilots: autopilots.handlers,
    backendState: wallets.backendState,
  });
  return {
    handlers,
    authenticate: authenticator({ ...features, paidCalls }),
    catalog: features.catalog,
    providers,
    engine,
    /** Warnings about the current configuration. */
    configWarnings: () => unknownModels(features.catalog, settings),
    onFailedRequest: rejectedRequests(features.rejections),
    /** Whether a model call was settled since the start. */
    wasSettled: features.wasSettled,
    vault: ownKeys.vault,
    /** Creates the owner, workspace and default key on the first start; returns the secrets to write down. */
    bootstrap: features.bootstrap,
    /** Settles what a daemon that died left behind. */
    async recover(): Promise<void> {
      await recoverHolds({ store: storage.metering, now: () => world.now(), marginPpm: settings.marginPpm });
      await Promise.all([calls.recover(), threads.recover(), decisions.recover()]);
      // Its claims without a run are known once the runs are ended.
      await autopilots.recover();
    },
    /** Ends the streams of clients that follow events, threads and messages. */
    closeEvents() {
      events.close();
      threads.close();
      site.close();
    },
    /** Starts the reverse proxy, if there are paywalls. */
    startPaywalls: paywalls.update,
    /** Waits for background work, autopilots and requests to paywalls until the deadline, then cancels them. */
    drain: (deadlineMs: number) =>
      Promise.all([calls.drain(deadlineMs), autopilots.drain(deadlineMs), paywalls.drain(deadlineMs)]),
    /** Runs periodic work until aborted. */
    async runBackground(signal: AbortSignal): Promise<void> {
      const onFailure = (error: unknown) => log.warn({ err: error }, 'background work failed');
      await Promise.all([
        authentication.keepExpiring(world, signal),
        authentication.keepFlushed(world, signal, onFailure),
        events.keepPruned(signal, onFailure),
        ownKeys.runBackground(signal, onFailure),
        calls.keepExpiring(signal, onFailure),
        features.rejections.keepRecording(signal, onFailure),
        wallets.runBackground(signal, onFailure),
        paywalls.runBackground(signal, onFailure),
        payments.runBackground(signal, onFailure),
        decisions.runBackground(signal, onFailure),
        autopilots.runBackground(signal, onFailure),
      ]);
    },
  };
}

/** The features that have state. */
function createFeatures(deps: AppDeps, { onUserRemoved }: { onUserRemoved: () => Promise<void> }) {
  const { storage, world, makeId } = deps;
  const now = () => world.now();
  const randomBytes = (count: number) => world.randomBytes(count);
  const events = createEventFeed({ store: storage.events, world });
  const speed = new SpeedMeter(world);
  const hostWorkspace = { id: undefined as string | undefined, createdAt: now() };
  const health = new Health(world, {
    onBench: (bench) => recordBench(events, accountOwner(bench) ?? hostWorkspace.id, bench, now()),
  });
  const descriptions = deps.providers.map(({ description }) => description);
  const catalog = new Catalog({
    world,
    providers: descriptions,
    aliases: deps.settings.aliases,
    fallbacks: deps.settings.fallbacks,
  });
  const providers = createProviderSet(deps.providers, { catalog, health, keepListings: deps.keepListings });
  const workspaces = createWorkspaces({ store: storage.workspaces });
  const usage = createUsageReader({ store: storage.metering, now });
  const accounts = createAccounts(deps, { events, usage, workspaces, hostWorkspace });
  const threads = new Threads({ store: storage.threads, world, makeId, log: deps.log });
  const site = createSite(deps, { ...accounts, workspaces, events, threads, onUserRemoved });
  const ownKeys = createOwnKeys({
    ...deps,
    workspaces,
    health,
    providers: providers.byName,
  });
  const router = createRouter({
    catalog,
    health,
    speed,
    world,
    settings: deps.settings,
    upstreams: translatingUpstreams({ get: (name) => providers.byName.get(name)?.upstream }, world),
    onFailure: unreachableLogger(deps),
    keyFor: ownKeys.keyFor,
    ownKeysOf: ownKeys.ownKeysOf,
  });
  const settlementDurations = new SettlementDurations();
  const wasSettled = (requestId: string) => settlementDurations.of(requestId) !== null;
  const callLog = createCallReporter(deps.callLog, accounts.authentication.nameOf);
  const rejections = new Rejections({
    store: storage.traces,
    feed: events,
    world,
    wasSettled,
    onRejected: (endpoint, code) => deps.telemetry.counters.refused(knownEndpoint(endpoint), code),
    onRecorded: callLog.onRecorded,
  });
  const first = { store: storage.workspaces, keys: accounts.keys, digest: sha256, makeId, randomBytes, now };
  return {
    ...accounts,
    async bootstrap(files: Parameters<typeof bootstrap>[1]) {
      const made = await bootstrap(first, files);
      hostWorkspace.id = made.workspaceId;
      hostWorkspace.createdAt = made.workspaceCreatedAt;
      return made;
    },
    catalog,
    events,
    hostWorkspace,
    health,
    speed,
    now,
    ownKeys,
    providers,
    randomBytes,
    router,
    callLog,
    rejections,
    settlementDurations,
    wasSettled,
    site,
    threads,
    usage,
    workspaces,
  };
}

type Features = ReturnType<typeof createFeatures>;

/** Resolves the caller of a request, acting in the workspace that the request names. */
function authenticator({ authentication, workspaces, paidCalls }: Features & { paidCalls: PaidCalls }) {
  const byPayment = async (authorization: string): Promise<Caller> => {
    const credential = await paidCalls.issuedTo(authorization);
    if (credential === undefined) throw new ApiError('unauthenticated');
    return await authentication.callerOf(credential);
  };
  return (
    authorization: string | undefined,
    { endpoint, workspace }: { endpoint: Endpoint | undefined; workspace?: string | string[] | undefined },
  ) => {
    const isPayment = endpoint?.payable && authorization !== undefined && carriesPayment({ authorization });
    const caller = isPayment ? byPayment(authorization) : authentication.authenticate(authorization);
    // Most requests name no workspace and need no lookup.
    if (workspace === undefined) return caller;
    return workspaces.actIn(caller, String(workspace), authentication.inWorkspace);
  };
}

/** Records that a provider is left out: for the host, or for the workspace whose own key failed. */
function recordBench(events: EventFeed, workspaceId: string | undefined, bench: Bench, at: number): void {
  if (workspaceId === undefined) return;
  const { provider, providerModel: model = null, reason, retryAfterMs } = bench;
  const data = { provider, model, reason, retry_after_ms: Math.round(retryAfterMs) };
  void events.record({ type: 'provider.benched', workspaceId, at, data });
}

/** The dependencies of model calls. */
function inferenceOf(deps: AppDeps, features: Features): InferenceDeps {
  const { storage, world, makeId, log } = deps;
  const { events } = features;
  return {
    world,
    makeId,
    router: cachingRouter(features.router, {
      store: storage.cache,
      world,
      settings: deps.settings.cache,
      log,
    }),
    admission: features.admission,
    isPrepaid: features.isPrepaid,
    metering: storage.metering,
    responses: storage.responses,
    threads: features.threads,
    sealer: createSealer(deps.dataKey, features.randomBytes),
    settings: deps.settings,
    silentStarts: new SilentStarts(world),
    observers: [
      callEvents(events),
      features.settlementDurations,
      features.rejections,
      deps.telemetry,
      features.callLog,
    ],
    log,
  };
}

/** Every endpoint of the daemon. */
function handlersOf(
  deps: AppDeps,
  features: Features,
  {
    calls,
    decisions,
    engine,
    money,
    autopilots,
    backendState,
  }: {
    calls: ModelCalls;
    decisions: ReturnType<typeof createDecisions>;
    engine: ReturnType<typeof createEngine>;
    money: readonly Handler[];
    autopilots: readonly Handler[];
    backendState: ReturnType<typeof createWalletFeature>['backendState'];
  },
): Handler[] {
  const { storage, world, makeId } = deps;
  const { authentication, catalog, events, speed, now, randomBytes, threads, workspaces } = features;
  const agents = {
    agents: features.agents,
    freeTier: deps.settings.freeTier,
    spendOf: features.usage.spendOf,
  };
  const describeApi = () =>
    openApiDocument(
      handlers.map(({ endpoint }) => endpoint),
      { version: apiVersion },
    );
  const all: Handler[] = [
    ...inferenceHandlers(calls.inference, calls),
    ...catalogHandlers({
      catalog,
      speed,
      world,
      listings: features.providers.listings,
      settings: deps.settings,
      ownKeysOf: features.ownKeys.ownKeysOf,
      hostCreatedAt: () => features.hostWorkspace.createdAt,
      usedModels: (caller) => features.usage.modelsUsedBy(caller),
      ownModels: decisions.modelEntries,
    }),
    ...decisions.handlers,
    ...engine.handlers,
    ...keyHandlers({
      ...features,
      settings: features.keySettings,
      agentView: agentKeyView(agents),
    }),
    ...agentHandlers(agents),
    ...creditHandlers(features.credit),
    ...peopleHandlers({
      store: storage.people,
      workspacesStore: storage.workspaces,
      workspaces,
      revocations: authentication,
      lastUse: authentication.lastLoginUse,
      guesses: createRateLimit({ ...loginCodeRate, elapsed: () => world.elapsed() }),
      digest: sha256,
      events,
      makeId,
      randomBytes,
      now,
    }),
    ...features.ownKeys.handlers,
    ...cacheHandlers({ store: storage.cache, workspaces, settings: deps.settings.cache }),
    ...usageHandlers(features.usage),
    ...features.site.handlers,
    ...money,
    ...eventHandlers({ feed: events, isDaemonOwner: workspaces.isDaemonOwner }),
    ...threadHandlers(threads),
    ...autopilots,
    ...traceHandlers({
      store: storage.traces,
      settlementDurations: features.settlementDurations,
      isDaemonOwner: workspaces.isDaemonOwner,
    }),
    ...adminHandlers(deps, { ...features, backendState }, describeApi),
    ...createMcpHandlers(deps, () => handlers),
    ...referenceHandlers({ openApiDocument: describeApi, readAssets: readPageAssets }),
  ];
  const handlers = all.map((handler) => guardOwner(handler, workspaces.requireDaemonOwner));
  return handlers;
}
