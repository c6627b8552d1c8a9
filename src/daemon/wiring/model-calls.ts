import type { Feature } from '../base/feature.ts';
import { credentialId } from '../base/handler.ts';
import { cacheHandlers, cachingRouter } from '../features/cache/index.ts';
import {
  type CallObserver,
  type Captures,
  createSealer,
  policyOf,
  type RunningCalls,
  SilentStarts,
} from '../features/calls/index.ts';
import { Idempotency } from '../features/idempotency/index.ts';
import {
  Background,
  type InferenceDeps,
  inferenceHandlers,
  keepExpiredRemoved,
  sealedBackground,
  sealedResponses,
} from '../features/inference/index.ts';
import type { PaidCalls } from '../features/payment-required/index.ts';
import { sealedThreads, Threads, threadHandlers } from '../features/threads/index.ts';
import { createDataSealer, createTextSealer } from '../features/vault/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import type { Accounts } from './accounts.ts';
import type { CallAppDeps } from './app-deps.ts';
import type { Models } from './models.ts';

/** What `Idempotency-Key` needs, and the answers of calls that had one. */
export function createIdempotencyFeature({ storage, world, dataKey, log }: CallAppDeps) {
  const sealer = createDataSealer(dataKey, (count) => world.randomBytes(count));
  const idempotency = new Idempotency({
    store: storage.idempotency,
    sealer,
    hasOthers: () => storage.members.count() > 1,
    world,
    log,
  });
  const feature: Feature = {
    sharedJobs: [(signal, onFailure) => idempotency.keepPruned(signal, onFailure)],
    takeOver: (daemon) => idempotency.takeOver(daemon),
    drain: (deadlineMs) => idempotency.drain(deadlineMs),
  };
  return { ...feature, idempotency };
}

/** Seals the secrets in what is stored of calls. */
function textSealer({ dataKey, world }: Pick<CallAppDeps, 'dataKey' | 'world'>) {
  return createTextSealer(createDataSealer(dataKey, (count) => world.randomBytes(count)));
}

/** Stored conversations, and the calls in them. */
export function createThreads(deps: CallAppDeps): Threads {
  const { storage, world, makeId, log } = deps;
  const store = sealedThreads(storage.threads, textSealer(deps));
  return new Threads({ store, changes: storage.changes, world, makeId, log });
}

export function createThreadFeature(threads: Threads): Feature {
  return {
    handlers: threadHandlers(threads),
    takeOver: (daemon) => threads.takeOver(daemon),
    onWritten: () => threads.readAgain(),
    endStreams: () => threads.close(),
  };
}

interface ModelCallFeatures {
  accounts: Pick<Accounts, 'admission' | 'budgets' | 'isPrepaid'>;
  captures: Captures;
  idempotency: Pick<Idempotency, 'once'>;
  models: Pick<Models, 'guardrails' | 'router'> & {
    concurrency: NonNullable<InferenceDeps['concurrency']>;
  };
  observers: readonly CallObserver[];
  /** Undefined where calls cannot be paid. */
  paidCalls: PaidCalls | undefined;
  running: RunningCalls;
  threads: Threads;
}

/** Model calls in all formats, and background responses. */
export function createModelCalls(deps: CallAppDeps, features: ModelCallFeatures): Feature {
  const { storage, world, makeId, settings, log } = deps;
  const { accounts, captures, idempotency, models, observers, paidCalls, running, threads } = features;
  const texts = textSealer(deps);
  const inference: InferenceDeps = {
    world,
    makeId,
    router: cachingRouter(models.router, { store: storage.cache, world, settings: settings.cache, log }),
    admission: accounts.admission,
    isPrepaid: accounts.isPrepaid,
    hasHardBudget: (caller, labels) => {
      const { workspaceId } = caller;
      const call = { workspaceId, keyId: credentialId(caller), labels };
      return accounts.budgets.rules.isHard(call, policyOf(caller));
    },
    budgets: accounts.budgets.rules,
    metering: storage.metering,
    responses: sealedResponses(storage.responses, texts),
    threads,
    sealer: createSealer(deps.dataKey, (count) => world.randomBytes(count)),
    settings,
    guardrails: models.guardrails,
    silentStarts: new SilentStarts(world),
    running,
    concurrency: models.concurrency,
    captures,
    observers,
    ...(paidCalls && { paidCalls }),
    log,
  };
  const background = new Background({
    ...inference,
    world,
    background: sealedBackground(storage.background, texts),
    changes: storage.changes,
    hasOthers: () => storage.members.count() > 1,
  });
  const expiring = [storage.responses, storage.background, storage.cache];
  return {
    handlers: inferenceHandlers(inference, { background, idempotency }),
    sharedJobs: [(signal, onFailure) => keepExpiredRemoved(expiring, world, signal, onFailure)],
    async takeOver(daemon) {
      await storage.slots.releaseLeft(daemon);
      await background.takeOver(daemon);
    },
    drain: (deadlineMs) => background.drain(deadlineMs),
  };
}

/** What workspaces may see and empty of the response cache. */
export function createCacheFeature({ storage, settings }: CallAppDeps, workspaces: Workspaces): Feature {
  return { handlers: cacheHandlers({ store: storage.cache, workspaces, settings: settings.cache }) };
}
