import { type Feature, joinFeatures } from './base/feature.ts';
import { type Accounts, createAccounts } from './composition/accounts.ts';
import { createAdminFeature } from './composition/admin.ts';
import { createAlertFeature } from './composition/alerts.ts';
import type { AppDeps } from './composition/app-deps.ts';
import { createAuthenticate } from './composition/authenticate.ts';
import { createAutopilotFeature } from './composition/autopilots.ts';
import { createBudgetFeature } from './composition/budgets.ts';
import { createCaptureFeature } from './composition/capture.ts';
import { createConcurrency } from './composition/concurrency.ts';
import { createDecisionFeature } from './composition/decisions.ts';
import { createEngineFeature } from './composition/engine.ts';
import { createMcpFeature } from './composition/mcp.ts';
import {
  createCacheFeature,
  createIdempotencyFeature,
  createModelCalls,
  createThreadFeature,
  createThreads,
} from './composition/model-calls.ts';
import { createCatalogFeature, createModels } from './composition/models.ts';
import { createEventFeature, createObservation } from './composition/observation.ts';
import { createPaymentFeature } from './composition/payments.ts';
import { createPaywallFeature } from './composition/paywalls.ts';
import { createProviderFeature } from './composition/providers.ts';
import { createSiteFeature } from './composition/site.ts';
import { createWalletFeature } from './composition/wallets.ts';
import { daemonHandlers, runJobs, takeOver } from './features/daemons/index.ts';
import { createEventFeed } from './features/events/index.ts';
import { createWorkspaces, guardOwner } from './features/workspaces/index.ts';
import { createEndpoints } from './http/inner-calls.ts';

type BootstrapFiles = Parameters<Accounts['bootstrap']>[0];

/** Builds the features and lists their endpoints. Only this file and `composition/` know both features and edges. */
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
