import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import type { KeyCaller, LoginCaller } from '../../handler.ts';
import type { World } from '../../world.ts';
import type { NewEvent } from '../events/index.ts';
import type { Admission, HoldRecord, MeteringStore, UsageRecord } from '../metering/index.ts';
import type { Threads } from '../threads/index.ts';
import { ableRoutes } from './able-routes.ts';
import { cutAllowance, fullAllowance } from './allowance.ts';
import { costOn, type InputTokens, inputTokens, noTokens } from './bounds.ts';
import { type EndedBy, endedFailure, endings, settledAs } from './ended-by.ts';
import { type HeldTo, heldTo } from './held-to.ts';
import { liveEvent, tellRouted } from './live-event.ts';
import { Meter } from './meter.ts';
import type { Inference, ReasoningOrigin } from './neutral.ts';
import { createOutput, type Output } from './output.ts';
import type { ResponsesStore } from './responses-store.ts';
import { checkAction, defaultsOf, limitHit, restraintsOf } from './restraints.ts';
import type { OpenedRoute, Route, Router } from './router.ts';
import type { Sealer } from './sealing.ts';
import type { Wishes } from './service-member.ts';

export interface InferenceNeeds {
  world: Pick<World, 'now' | 'elapsed'>;
  makeId: MakeId;
  router: Router;
  admission: Admission;
  metering: Pick<MeteringStore, 'progress'>;
  responses: ResponsesStore;
  threads: Pick<Threads, 'begin'>;
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
  onRefused?: (refused: RefusedCall) => void;
  /** Called with each settlement that is on disk, so long after the request came, in milliseconds. */
  onSettled: (usage: UsageRecord, settledMs: number) => void;
  log: { warn(details: object, message: string): void };
}

/** A call that no provider was asked for: limits, money or the lack of a route forbade it. */
export interface RefusedCall {
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
  wishes: Wishes;
  signal: AbortSignal;
}

/** A call that a provider has begun to answer, with its hold on disk. */
export interface Begun extends Pick<OpenedRoute, 'answer' | 'route'> {
  /** Tells routing how the answer went; to be called once. */
  finishRoute: OpenedRoute['ended'];
  meter: Meter;
  output: Output;
  /** Ends the provider's work. */
  abort: AbortController;
  /** Why the call was ended from outside, if it was. */
  ended: () => EndedBy | undefined;
  /** Lets go of the signals; call it when the answer is over. */
  release: () => void;
}

/**
 * Plans, admits and opens one call. The hold is written while the provider is already being dialled, and nobody gets
 * the answer before the hold is on disk.
 */
export async function begin(needs: InferenceNeeds, call: ModelCall): Promise<Begun> {
  const { inference } = call;
  const startedAt = needs.world.elapsed();
  const input = inputTokens(inference);
  const { meter, routes, outputTokensOn } = await admitted(needs, call, { input, startedAt });
  const { abort, ended, release } = endings(call);
  let asked: Route | undefined;
  try {
    const opening = needs.router.open({
      routes,
      inference,
      outputTokensMaxFor: outputTokensOn,
      signal: abort.signal,
      attempts: meter.attempts,
      onAttempt: (route, attempt) => {
        asked = route;
        meter.attemptBegins();
        tellRouted(needs, call, { route, attempt });
      },
    });
    const { route, answer, ended: end } = await withHold(opening, meter, inference);
    const output = createOutput(needs.makeId, sealing(needs.sealer, call.caller.workspaceId));
    meter.begin(route, output);
    return { answer, route, finishRoute: end, meter, output, abort, ended, release };
  } catch (error) {
    abort.abort(error);
    release();
    throw await failBefore(meter, { error, ended: ended(), asked });
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
async function admitted(needs: InferenceNeeds, call: ModelCall, options: Omit<AdmitOptions, 'isPrepaid'>) {
  try {
    checkAction(restraintsOf(call.caller), call.endpoint);
    const held = heldTo(needs, call);
    const routes = await planned(needs, call, held);
    return await admit(needs, call, routes, { ...options, isPrepaid: held.isPrepaid });
  } catch (error) {
    const ms = needs.world.elapsed() - options.startedAt;
    needs.onRefused?.({ call, error, ms });
    const limit = limitHit(error);
    if (limit !== undefined) {
      needs.publish(liveEvent(needs, 'limit.reached', call, { param: limit, model: call.inference.model }));
    }
    throw error;
  }
}

async function planned(needs: InferenceNeeds, call: ModelCall, held: HeldTo): Promise<Route[]> {
  const { inference, wishes, caller } = call;
  const cache = wishes.cache ?? defaultsOf(caller)?.cache ?? undefined;
  const routes = await needs.router.plan({
    inference,
    wishes: cache === wishes.cache ? wishes : { ...wishes, cache },
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
  needs: InferenceNeeds,
  call: ModelCall,
  planned: Route[],
  { input, startedAt, isPrepaid }: AdmitOptions,
) {
  const { inference, caller } = call;
  const { marginPpm } = needs;
  const bound = { inputTokens: input.most, marginPpm };
  let allowance = fullAllowance(planned, inference, bound);
  const promptEstimate = { ...noTokens, input: input.likely };
  const record: HoldRecord = {
    requestId: call.requestId,
    workspaceId: caller.workspaceId,
    keyId: caller.kind === 'key' ? caller.keyId : null,
    endpoint: call.endpoint,
    model: first(planned).offer.model,
    streamed: inference.stream,
    ownKey: planned.every((route) => route.ownKey),
    amount: allowance.amount,
    promptEstimate,
    promptCost: costOn(first(planned), promptEstimate, marginPpm),
    createdAt: needs.world.now(),
  };
  const hold = await needs.admission.hold(record, {
    restraints: restraintsOf(caller),
    isPrepaid,
    fit: (affordable) => {
      const cut = cutAllowance(allowance, inference, { ...bound, affordable });
      allowance = cut ?? allowance;
      return cut?.amount;
    },
  });
  const { routes, outputTokensOn } = allowance;
  const started = { model: first(routes).offer.model, streamed: inference.stream };
  needs.publish(liveEvent(needs, 'request.started', call, started));
  const meter = new Meter({
    admission: needs.admission,
    keepProgress: (progress) => needs.metering.progress(progress),
    clock: needs.world,
    marginPpm,
    hold,
    startedAt,
    routes: planned.slice(0, routesTold).map(({ provider, offer }) => ({ provider, model: offer.model })),
    promptTokens: input.likely,
    outputTokensMax: allowance.outputTokensBound,
    isCut: allowance.isCut,
    onSettled: needs.onSettled,
  });
  return { meter, routes, outputTokensOn };
}

interface FailedBefore {
  error: unknown;
  ended: EndedBy | undefined;
  /** The route that was tried last. */
  asked: Route | undefined;
}

/** Settles a call that got no answer and says what the caller is told. */
async function failBefore(meter: Meter, { error, ended, asked }: FailedBefore): Promise<ApiError> {
  const failure = ended ? endedFailure(ended) : asApiError(error);
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
