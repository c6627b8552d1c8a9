import { ApiError } from '../../../../shared/errors.ts';
import type { MakeId } from '../../../../shared/ids.ts';
import type { KeyCaller, LoginCaller } from '../../../handler.ts';
import type { World } from '../../../world.ts';
import type { NewEvent } from '../../events/index.ts';
import type { Admission, HoldRecord, MeteringStore, UsageRecord } from '../../metering/index.ts';
import type { OpenedRoute, Route, Router } from '../../routing/index.ts';
import type { Threads } from '../../threads/index.ts';
import type { Inference, ReasoningOrigin } from '../neutral.ts';
import { costOn, type InputTokens, inputTokens, noTokens } from '../pricing/cost-bound.ts';
import { capOutputToBudget, uncappedBudget } from '../pricing/output-budget.ts';
import type { ResponsesStore } from '../stored/responses-store.ts';
import { ableRoutes } from './able-routes.ts';
import { type CancelReason, cancellationError, settledAs, watchCancellation } from './cancellation.ts';
import { type EnforcedPolicy, enforceKeyPolicy } from './key-policy.ts';
import { liveEvent, tellRouted } from './live-event.ts';
import { Meter } from './meter.ts';
import { createOutput, type Output } from './output.ts';
import { checkAction, defaultsOf, limitHit, policyOf } from './restraints.ts';
import type { Sealer } from './sealing.ts';
import type { ServiceOptions } from './service-member.ts';

export interface InferenceDeps {
  world: Pick<World, 'now' | 'elapsed'>;
  makeId: MakeId;
  router: Router;
  admission: Admission;
  metering: Pick<MeteringStore, 'progress'>;
  responses: ResponsesStore;
  threads: Pick<Threads, 'start'>;
  sealer: Sealer;
  marginPpm: number;
  /** Whether a workspace pays in advance; none does unless told. */
  isPrepaid?: (workspaceId: string) => boolean;
  /** Whether responses are stored whose call does not say, nor its key. */
  storesResponses: boolean;
  /** How long stored responses are kept, in milliseconds. */
  responsesKeptMs: number;
  /** Tells those who watch live; never waits. */
  publish: (event: NewEvent) => void;
  /** Called with each call that was refused before a provider was asked. */
  onRejected?: (refused: RejectedCall) => void;
  /** Called with each settlement that is on disk, so long after the request came, in milliseconds. */
  onSettled: (usage: UsageRecord, settledMs: number) => void;
  log: { warn(details: object, message: string): void };
}

/** A call that no provider was asked for: limits, money or the lack of a route forbade it. */
export interface RejectedCall {
  call: ModelCall;
  error: unknown;
  /** How long it took to tell, in milliseconds. */
  ms: number;
}

/** A call that is about to be made for a caller. */
export interface ModelCall {
  caller: KeyCaller | LoginCaller;
  requestId: string;
  endpoint: string;
  inference: Inference;
  options: ServiceOptions;
  signal: AbortSignal;
}

/** A call that a provider has started to answer, with its hold on disk. */
export interface StartedCall extends Pick<OpenedRoute, 'answer' | 'route'> {
  /** Tells routing how the answer went; to be called once. */
  finishRoute: OpenedRoute['ended'];
  meter: Meter;
  output: Output;
  /** Ends the provider's work. */
  abort: AbortController;
  /** Why the call was ended from outside, if it was. */
  ended: () => CancelReason | undefined;
  /** Lets go of the signals; call it when the answer is over. */
  release: () => void;
}

/**
 * Plans, admits and opens one call. The hold is written while the provider is already being dialled, and nobody gets
 * the answer before the hold is on disk.
 */
export async function startCall(deps: InferenceDeps, call: ModelCall): Promise<StartedCall> {
  const { inference } = call;
  const startedAt = deps.world.elapsed();
  const input = inputTokens(inference);
  const { meter, routes, outputTokensOn } = await admitted(deps, call, { input, startedAt });
  const { abort, ended, release } = watchCancellation(call);
  let asked: Route | undefined;
  try {
    const opening = deps.router.open({
      routes,
      inference,
      outputTokensMaxFor: outputTokensOn,
      signal: abort.signal,
      attempts: meter.attempts,
      onAttempt: (route, attempt) => {
        asked = route;
        meter.attemptStarted();
        tellRouted(deps, call, { route, attempt });
      },
    });
    const { route, answer, ended: end } = await withHold(opening, meter, inference);
    const output = createOutput(deps.makeId, sealing(deps.sealer, call.caller.workspaceId));
    meter.answerStarted(route, output);
    return { answer, route, finishRoute: end, meter, output, abort, ended, release };
  } catch (error) {
    abort.abort(error);
    release();
    throw await settleUnopened(meter, { error, ended: ended(), asked });
  }
}

/**
 * The first byte of a stream waits for the hold. A whole answer waits for its settlement anyway, which is on disk no
 * earlier than the hold; until the provider has answered, a hold that cannot be written still ends the call.
 */
async function withHold(
  opening: Promise<OpenedRoute>,
  meter: Meter,
  { stream }: Inference,
): Promise<OpenedRoute> {
  const held = Promise.all([opening, meter.committed()]).then(([opened]) => opened);
  return stream ? await held : await Promise.race([opening, held]);
}

/** By itself, as a function made in `begin` would keep the whole request as long as the answer runs. */
function sealing(sealer: Sealer, workspaceId: string) {
  return (origin: ReasoningOrigin) => sealer.seal(workspaceId, origin);
}

/** Plans a call and sets its money aside; a limit that refuses it is told to those who watch. */
async function admitted(deps: InferenceDeps, call: ModelCall, options: Omit<AdmitOptions, 'isPrepaid'>) {
  try {
    checkAction(policyOf(call.caller), call.endpoint);
    const held = enforceKeyPolicy(deps, call);
    const routes = await planned(deps, call, held, options.input.most);
    return await admit(deps, call, routes, { ...options, isPrepaid: held.isPrepaid });
  } catch (error) {
    const ms = deps.world.elapsed() - options.startedAt;
    deps.onRejected?.({ call, error, ms });
    const limit = limitHit(error);
    if (limit !== undefined) {
      deps.publish(liveEvent(deps, 'limit.reached', call, { param: limit, model: call.inference.model }));
    }
    throw error;
  }
}

async function planned(
  deps: InferenceDeps,
  call: ModelCall,
  held: EnforcedPolicy,
  inputTokensMax: number,
): Promise<Route[]> {
  const { inference, options, caller } = call;
  const cache = options.cache ?? defaultsOf(caller)?.cache ?? undefined;
  const routes = await deps.router.plan({
    inference,
    inputTokensMax,
    options: cache === options.cache ? options : { ...options, cache },
    workspaceId: caller.workspaceId,
    ...held,
  });
  return ableRoutes(routes, inference);
}

/** Routes of a plan that a trace tells. */
const routesTold = 8;

interface AdmitOptions {
  input: InputTokens;
  startedAt: number;
  isPrepaid: boolean;
}

async function admit(
  deps: InferenceDeps,
  call: ModelCall,
  planned: Route[],
  { input, startedAt, isPrepaid }: AdmitOptions,
) {
  const { inference, caller } = call;
  const { marginPpm } = deps;
  const bound = { inputTokens: input.most, marginPpm };
  let budget = uncappedBudget(planned, inference, bound);
  const promptEstimate = { ...noTokens, input: input.likely };
  const record: HoldRecord = {
    requestId: call.requestId,
    workspaceId: caller.workspaceId,
    keyId: caller.kind === 'key' ? caller.keyId : null,
    endpoint: call.endpoint,
    model: first(planned).offer.model,
    streamed: inference.stream,
    ownKey: planned.every((route) => route.ownKey),
    amount: budget.amount,
    promptEstimate,
    promptCost: costOn(first(planned), promptEstimate, marginPpm),
    createdAt: deps.world.now(),
  };
  const hold = await deps.admission.hold(record, {
    policy: policyOf(caller),
    isPrepaid,
    fit: (affordable) => {
      const cut = capOutputToBudget(budget, inference, { ...bound, affordable });
      budget = cut ?? budget;
      return cut?.amount;
    },
  });
  const { routes, outputTokensOn } = budget;
  const started = { model: first(routes).offer.model, streamed: inference.stream };
  deps.publish(liveEvent(deps, 'request.started', call, started));
  const meter = new Meter({
    admission: deps.admission,
    keepProgress: (progress) => deps.metering.progress(progress),
    clock: deps.world,
    marginPpm,
    hold,
    startedAt,
    routes: planned.slice(0, routesTold).map(({ provider, offer }) => ({ provider, model: offer.model })),
    promptTokens: input.likely,
    outputTokensMax: budget.outputTokensBound,
    isCut: budget.isCut,
    onSettled: deps.onSettled,
  });
  return { meter, routes, outputTokensOn };
}

interface FailedBefore {
  error: unknown;
  ended: CancelReason | undefined;
  /** The route that was tried last. */
  asked: Route | undefined;
}

/** Settles a call that got no answer and says what the caller is told. */
async function settleUnopened(meter: Meter, { error, ended, asked }: FailedBefore): Promise<ApiError> {
  const failure = ended ? cancellationError(ended) : asApiError(error);
  // Whoever was asked and not waited for may have worked on the prompt.
  if (ended && asked) meter.chargePromptOf(asked);
  await meter.settle(settledAs(ended, failure.code)).catch(() => {});
  return failure;
}

/** A failure as the caller may see it; what is not meant for callers becomes a plain server error with its cause. */
export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('server_error', { cause: error });
}

function first(routes: readonly Route[]): Route {
  const [route] = routes;
  if (!route) throw new TypeError('a plan has at least one route');
  return route;
}
