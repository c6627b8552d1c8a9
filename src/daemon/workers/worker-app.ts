import type { IncomingMessage } from 'node:http';
import { gatewayKeyHeader } from '../../shared/http/gateway-key.ts';
import { joinFeatures } from '../base/feature.ts';
import type { Handler } from '../base/handler.ts';
import { type CallObserver, RunningCalls } from '../features/calls/index.ts';
import type { Capture, WireWindow } from '../features/capture/index.ts';
import type { ProviderDescription } from '../features/catalog/index.ts';
import { isLimited } from '../features/concurrency/index.ts';
import { carriesPayment } from '../features/payment-required/index.ts';
import { isElsewhere, type ProviderSet } from '../features/providers/index.ts';
import { createWorkspaces } from '../features/workspaces/index.ts';
import { createAccounts } from '../wiring/accounts.ts';
import type { CallAppDeps } from '../wiring/app-deps.ts';
import { createAuthenticate } from '../wiring/authenticate.ts';
import { createBudgetFeature } from '../wiring/budgets.ts';
import { createCapture } from '../wiring/capture.ts';
import { createIdempotencyFeature, createModelCalls, createThreads } from '../wiring/model-calls.ts';
import { createModels, type Models } from '../wiring/models.ts';
import {
  type Observe,
  ObservedHealth,
  ObservedSpeed,
  observedCalls,
  observedEvents,
  observedFinish,
  observedLeave,
} from './observed.ts';

/** The endpoints that workers serve. */
const servedIds = new Set(['createResponse', 'createChatCompletion', 'createMessage', 'createEmbedding']);

export interface WorkerAppDeps extends CallAppDeps {
  content: ConstructorParameters<typeof Capture>[0]['store'];
  hostWorkspace: { id: string | undefined; createdAt: number };
  /** Reports to the main thread. */
  observe: Observe;
  /** Whether `traceparent` headers matter. */
  hasSpans: boolean;
}

/**
 * Builds the features of a worker: model calls, and what they need. A worker answers a call that it has admitted; all other
 * requests, and those that it would refuse, are the main thread’s, so that limits per address, errors, invoices and records of
 * rejected calls are made in one place.
 */
export function createWorkerApp(deps: WorkerAppDeps) {
  const { storage, world, log, observe } = deps;
  const events = observedEvents(storage, observe);
  const workspaces = createWorkspaces({ store: storage.workspaces, changes: storage.changes });
  const accounts = createAccounts(deps, { events, workspaces });
  Object.assign(accounts.hostWorkspace, deps.hostWorkspace);
  const health = new ObservedHealth(world, observe);
  const speed = new ObservedSpeed(world, observe);
  const models = createModels(deps, { accounts, events, workspaces, health, speed });
  const { ownKeys, providers } = models;
  const content = createCapture(deps, accounts);
  const running = new RunningCalls();
  const admitted = new Set<string>();
  let admittedCount = 0;
  const counting: CallObserver = {
    onAdmitted({ call }) {
      admitted.add(call.requestId);
      admittedCount += 1;
    },
  };
  const calls = createModelCalls(deps, {
    accounts,
    captures: content.capture,
    idempotency: createIdempotencyFeature(deps).idempotency,
    models: {
      guardrails: models.guardrails,
      router: hereOnly(models.router, { providers, vault: ownKeys.vault }),
      // Slots are given by the main thread, which makes the calls that need them.
      concurrency: {
        async enter(call) {
          if (isLimited(call, deps.settings)) throw new NotHere();
          return undefined;
        },
      },
    },
    observers: [counting, observedCalls(observe)],
    paidCalls: undefined,
    running,
    threads: createThreads(deps),
  });
  const handlers = (calls.handlers ?? [])
    .filter(({ endpoint }) => servedIds.has(endpoint.id))
    .map((handler) => servedAlone(handler, models.guardrails));
  const parts = joinFeatures([
    accounts,
    createBudgetFeature(deps, { accounts, events, models, workspaces }),
    ownKeys,
    content,
  ]);
  const onFinish = observedFinish(observe);
  const onLeave = observedLeave(observe);
  return {
    handlers,
    authenticate: createAuthenticate({
      authentication: accounts.authentication,
      workspaces,
      paidCalls: undefined,
    }),
    catalog: models.catalog,
    providers,
    isServedHere: servedHere(handlers),
    isKept: (requestId: string) => admitted.has(requestId),
    onFinish(request: Parameters<typeof onFinish>[0]): void {
      admitted.delete(request.requestId);
      onFinish(request);
    },
    onFailure: onLeave,
    onParent: deps.hasSpans
      ? (requestId: string, parent: string | string[]) => observe({ requestId, parent })
      : undefined,
    cancel: (workspaceId: string, requestId: string) => running.cancel(workspaceId, requestId),
    retry: ({ provider, account }: { provider: string; account: string | undefined }) =>
      void health.retry(provider, account),
    refusalsOf: models.refusalsOf,
    calls: () => ({ calls: accounts.admission.running(), admitted: admittedCount }),
    showProviders: (descriptions: readonly ProviderDescription[]) => providers.mirror(descriptions),
    showWires: (workspaceId: string, windows: readonly WireWindow[]) =>
      content.wires.replace(workspaceId, windows),
    load: () => parts.load(),
    /** Runs what belongs to this thread until aborted. */
    async runBackground(signal: AbortSignal): Promise<void> {
      const onFailure = (error: unknown) => log.warn({ err: error }, 'background work failed');
      // A new master key is read from its store.
      storage.changes.subscribe('vault', () => void ownKeys.vault.keepOpen(signal).catch(onFailure));
      await Promise.all(parts.jobs.map((job) => job(signal, onFailure)));
    },
  };
}

type ProviderRouter = Models['router'];

/** A call that only the main thread can make. */
class NotHere extends Error {}

/** Plans calls of which this thread can take every route. */
function hereOnly(
  router: ProviderRouter,
  { providers, vault }: { providers: Pick<ProviderSet, 'byName'>; vault: { readonly isOpen: boolean } },
): ProviderRouter {
  const check = <R extends { provider: string; ownKey: boolean }>(routes: R[]): R[] => {
    for (const { provider, ownKey } of routes) {
      const known = providers.byName.get(provider);
      // Passphrases are typed in the main thread.
      if (known === undefined || isElsewhere(known)) throw new NotHere();
      if ((ownKey || known.description.hasSealedKey) && !vault.isOpen) throw new NotHere();
    }
    return routes;
  };
  return {
    ...router,
    plan(request) {
      const planned = router.plan(request);
      return planned instanceof Promise ? planned.then(check) : check(planned);
    },
  };
}

/** A handler that leaves to the main thread what outlives its request or joins others: background responses and threads. */
function servedAlone(handler: Handler, guardrails: Pick<Models['guardrails'], 'checksRequests'>): Handler {
  return {
    ...handler,
    handle: (call) => {
      const { background, conversation, service } = (call.body ?? {}) as {
        background?: unknown;
        conversation?: unknown;
        service?: { thread?: unknown } | null;
      };
      const isAlone = !background && (conversation ?? service?.thread ?? null) === null;
      // A request that is refused would be asked about again.
      return isAlone && !guardrails.checksRequests ? handler.handle(call) : Promise.reject(new NotHere());
    },
  };
}

/** Headers of requests that are not served here, whatever their body is. */
const mainHeaders = ['idempotency-key', 'content-encoding', 'expect', gatewayKeyHeader];

/** Whether a request is for a model call that a worker may serve, by its head. */
function servedHere(handlers: readonly Handler[]): (request: IncomingMessage) => boolean {
  const paths = new Set(handlers.map(({ endpoint }) => endpoint.path));
  return ({ method, url = '', headers }) =>
    method === 'POST' &&
    paths.has(url) &&
    (headers.authorization !== undefined || headers['x-api-key'] !== undefined) &&
    !carriesPayment(headers) &&
    !mainHeaders.some((name) => headers[name] !== undefined);
}
