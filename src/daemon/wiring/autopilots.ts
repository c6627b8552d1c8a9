import type { ResponseResource } from '../../shared/contract/response-resource.ts';
import { createResponse } from '../../shared/contract/responses.ts';
import { ApiError } from '../../shared/errors.ts';
import { localZone } from '../../shared/time/time-zones.ts';
import type { Feature } from '../base/feature.ts';
import { RelayReply } from '../base/handler.ts';
import type { InnerCalls } from '../base/inner-calls.ts';
import {
  AutopilotRuns,
  autopilotHandlers,
  createAutopilots,
  Schedules,
  scheduledRunner,
  toolInputs,
} from '../features/autopilots/index.ts';
import type { EventFeed } from '../features/events/index.ts';
import type { Idempotency } from '../features/idempotency/index.ts';
import { createPeople } from '../features/profile/index.ts';
import { chatHandlers, type Threads } from '../features/threads/index.ts';
import type { Payments } from '../features/wallet/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import { argumentFault } from '../http/inner-calls.ts';
import { portOf } from '../reverse-proxy/address-guard.ts';
import { RequestFailed, sendGuarded } from '../reverse-proxy/guarded-request.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps } from './app-deps.ts';

interface AutopilotsFeatures {
  threads: Threads;
  payments: Pick<Payments, 'pay' | 'get' | 'preimage'>;
  workspaces: Pick<Workspaces, 'isDaemonOwner' | 'roleOf'>;
  accounts: Pick<Accounts, 'admission' | 'authentication'>;
  events: Pick<EventFeed, 'record'>;
  idempotency: Pick<Idempotency, 'once'>;
  calls: InnerCalls;
}

/** For one request of an autopilot. */
const requestLimits = { timeoutMs: 30_000, bytesMax: 64 * 1024 };

/** Autopilots, their runs, and the chats that these are part of. */
export function createAutopilotFeature(deps: AppDeps, features: AutopilotsFeatures): Feature {
  const { storage, world, makeId, settings, log } = deps;
  const { accounts, calls, threads, payments, workspaces, idempotency } = features;
  const rules = {
    allowed: () => settings.allowedUpstreams,
    ownPorts: () => [portOf(new URL(deps.process.url()))],
  };
  const autopilots = createAutopilots({
    store: storage.autopilots,
    people: createPeople({ store: storage.profile }),
    makeId,
    randomBytes: (count) => world.randomBytes(count),
    now: () => world.now(),
    timeZone: localZone,
    defaultModel: () => settings.defaultModel,
  });
  const runs = new AutopilotRuns({
    autopilots,
    threads,
    notRun: storage.autopilots.notRun,
    makeId,
    world,
    log,
    settings,
    async respond(body, call) {
      const reply = await calls.call(createResponse, { body }, call);
      if (!(reply instanceof RelayReply)) throw new Error('a model call gave no whole answer');
      return JSON.parse(Buffer.from(reply.body).toString()) as ResponseResource;
    },
    faultIn: (name, value) => argumentFault(toolInputs[name], value),
    mayUsePrivate: (user) => workspaces.isDaemonOwner(user),
    async send(request) {
      try {
        return await sendGuarded(request, { rules, ...requestLimits });
      } catch (error) {
        if (error instanceof RequestFailed)
          throw new ApiError('upstream_failed', { message: error.message, cause: error });
        throw error;
      }
    },
    pay: (caller, request, options) => payments.pay(caller, request, options),
    payment: (caller, id) => payments.get(caller, id),
    preimage: (payment) => payments.preimage(payment),
  });
  const schedules = new Schedules({
    store: storage.autopilots,
    runs,
    runnerOf: (by) => scheduledRunner(by, { authentication: accounts.authentication, workspaces }),
    changes: storage.changes,
    events: features.events,
    makeId,
    world,
    log,
  });
  return {
    handlers: [
      ...autopilotHandlers({
        autopilots,
        runs,
        idempotency,
        usedBy: (autopilotId) => accounts.admission.usedBy(autopilotId),
      }),
      ...chatHandlers({
        threads,
        autopilotNamed: async (caller, reference) => (await autopilots.find(caller, reference)).id,
      }),
    ],
    sharedJobs: [(signal, onFailure) => schedules.runBackground(signal, onFailure)],
    takeOver: (daemon) => schedules.takeOver(daemon),
    drain: (deadlineMs) => runs.drain(deadlineMs),
  };
}
