import { type Feature, joinFeatures } from './base/feature.ts';
import { daemonHandlers, runJobs, takeOver } from './features/daemons/index.ts';
import { createEventFeed } from './features/events/index.ts';
import { createWorkspaces, guardOwner } from './features/workspaces/index.ts';
import { createEndpoints } from './http/inner-calls.ts';
import { type Accounts, createAccounts } from './wiring/accounts.ts';
import { createAdminFeature } from './wiring/admin.ts';
import { createAlertFeature } from './wiring/alerts.ts';
import type { AppDeps } from './wiring/app-deps.ts';
import { createAuthenticate } from './wiring/authenticate.ts';
import { createAutopilotFeature } from './wiring/autopilots.ts';
import { createBudgetFeature } from './wiring/budgets.ts';
import { createCaptureFeature } from './wiring/capture.ts';
import { createConcurrency } from './wiring/concurrency.ts';
import { createDecisionFeature } from './wiring/decisions.ts';
import { createEngineFeature } from './wiring/engine.ts';
import { createMcpFeature } from './wiring/mcp.ts';
import {
  createCacheFeature,
  createIdempotencyFeature,
  createModelCalls,
  createThreadFeature,
  createThreads,
} from './wiring/model-calls.ts';
import { createCatalogFeature, createModels } from './wiring/models.ts';
import { createEventFeature, createObservation } from './wiring/observation.ts';
import { createPaymentFeature } from './wiring/payments.ts';
import { createPaywallFeature } from './wiring/paywalls.ts';
import { createProviderFeature } from './wiring/providers.ts';
import { createSiteFeature } from './wiring/site.ts';
import { createWalletFeature } from './wiring/wallets.ts';

type BootstrapFiles = Parameters<Accounts['bootstrap']>[0];

/** Builds the features and lists their endpoints. Only this file and `wiring/` know both features and edges. */
export function createApp(deps: AppDeps) {
  const { storage, world, log } = deps;
  const endpoints = createEndpoints();
  const daemons = { members: storage.members, store: storage.daemons, log };
  const events = createEventFeed({ store: storage.events, world });
  const workspaces = createWorkspaces({ store: storage.workspaces, changes: storage.changes });
  const accounts = createAccounts(deps, { events, workspaces });
  const models = { ...createModels(deps, { accounts, events, workspaces }), ...createConcurrency(deps) };
  const { ownKeys, providers } = models;
  const records = { ...events, recordCounted: (id: string) => observation.recordCounted(id) };
  const { capture, ...content } = createCaptureFeature(deps, accounts, workspaces, records);
  const observation = createObservation(deps, { accounts, capture, events, models, workspaces });
  const { observers, running } = observation;
  const threads = createThreads(deps);
  const once = createIdempotencyFeature(deps);
  const { idempotency } = once;
  const wallets = createWalletFeature(deps, { vault: ownKeys.vault, events, idempotency });
  const payments = createPaymentFeature(deps, { wallets, accounts });
  const paywalls = createPaywallFeature(deps, { ...wallets, workspaces, events, idempotency });
  const calls = createModelCalls(deps, {
    accounts,
    captures: capture,
    idempotency,
    models,
    observers,
    paidCalls: payments.paidCalls,
    running,
    threads,
  });
  const engine = createEngineFeature(deps, providers);
  const decisions = createDecisionFeature(deps, {
    accounts,
    captures: capture,
    engine,
    events,
    idempotency,
    models,
    observers,
    workspaces,
  });
  const all: Required<Feature> = joinFeatures([
    accounts,
    createBudgetFeature(deps, { accounts, events, models, workspaces }),
    createAlertFeature(deps, { events, models, workspaces }),
    calls,
    once,
    createCatalogFeature(deps, { accounts, decisions, models }),
    createProviderFeature(deps, models),
    decisions,
    engine,
    ownKeys,
    createCacheFeature(deps, workspaces),
    createSiteFeature(deps, { ...accounts, events, threads }),
    wallets,
    payments,
    paywalls,
    createEventFeature(deps, { events, workspaces }),
    createThreadFeature(threads),
    createAutopilotFeature(deps, {
      accounts,
      calls: endpoints,
      events,
      idempotency,
      payments: wallets.payments,
      threads,
      workspaces,
    }),
    observation,
    content,
    createAdminFeature(deps, {
      accounts,
      backendState: wallets.backendState,
      endpoints,
      eventFollowers: events.followers,
      models,
      workspaces,
    }),
    createMcpFeature(deps, endpoints),
    { handlers: daemonHandlers({ ...daemons, finish: (daemon) => all.takeOver(daemon) }) },
  ] satisfies Feature[]);
  const handlers = all.handlers.map((handler) => guardOwner(handler, workspaces.requireDaemonOwner));
  endpoints.serve(handlers);
  storage.changes.subscribe('written', () => all.onWritten());
  return {
    ...all,
    handlers,
    authenticate: createAuthenticate({ ...accounts, workspaces, paidCalls: payments.paidCalls }),
    bootstrap: (files: BootstrapFiles) => accounts.bootstrap(files, deps.loginName),
    catalog: models.catalog,
    configWarnings: models.configWarnings,
    engine,
    findLocalServers: async () => (await models.localServers?.look()) ?? [],
    ...observation.reports(handlers),
    providers,
    hostWorkspace: accounts.hostWorkspace,
    /** Starts the reverse proxy, if there are paywalls. */
    startPaywalls: paywalls.update,
    vault: ownKeys.vault,
    /** Loads what features keep in memory, and finishes what earlier daemons left behind, before the first request. */
    async prepare(): Promise<void> {
      await all.load();
      await takeOver(daemons, all.takeOver);
    },
    /** Runs periodic work until aborted, and takes over that of other daemons as they end. */
    runBackground: (signal: AbortSignal) =>
      runJobs({ ...daemons, features: all, onTermEnd: () => running.cutOff() }, signal),
  };
}
