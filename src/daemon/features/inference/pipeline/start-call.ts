import { asApiError } from '../../../../shared/errors.ts';
import type { MakeId } from '../../../../shared/ids.ts';
import type { NanoUsd } from '../../../../shared/money.ts';
import { credentialId } from '../../../handler.ts';
import type { Log } from '../../../log.ts';
import type { World } from '../../../world.ts';
import {
  type Admission,
  type FreeTierSettings,
  type Hold,
  type HoldRecord,
  type MeteringStore,
  PaymentDue,
} from '../../metering/index.ts';
import type { PaidCalls } from '../../payment-required/index.ts';
import { matchesPattern, type OpenedRoute, type Route, type Router } from '../../routing/index.ts';
import type { Batch, Inference, InputItem, ReasoningOrigin } from '../../upstreams/neutral.ts';
import { costOn, inputTokens, noTokens } from '../pricing/cost-bound.ts';
import {
  capOutputToBudget,
  invoicedCost,
  type OutputBudget,
  uncappedBudget,
} from '../pricing/output-budget.ts';
import { type CallObserver, type ModelCall, observersOf } from './call-observer.ts';
import { type CancelReason, cancellationError, settleReasonOf, watchCancellation } from './cancellation.ts';
import { capableRoutes, speaksFormat } from './capable-routes.ts';
import { checkAction, defaultsOf, enforceKeyPolicy, policyOf } from './key-policy.ts';
import { Meter } from './meter.ts';
import { createOutput, type Output } from './output-items.ts';
import { readAhead } from './read-ahead.ts';
import type { Sealer } from './sealing.ts';

/** A call that a provider has started to answer. */
export interface StartedCall extends Pick<OpenedRoute, 'answer' | 'route'> {
  /** Reports the end of the answer to routing; to be called once. */
  finishRoute: OpenedRoute['ended'];
  meter: Meter;
  output: Output;
  /** Stops the provider. */
  abort: AbortController;
  /** Why the call was canceled, if it was. */
  canceled: () => CancelReason | undefined;
  /** Stops watching for cancellation; to be called when the answer is over. */
  release: () => void;
}

export interface CallDeps {
  world: Pick<World, 'now' | 'elapsed'>;
  makeId: MakeId;
  router: Router;
  admission: Admission;
  metering: Pick<MeteringStore, 'progress'>;
  sealer: Sealer;
  settings: { readonly marginPpm: number; readonly freeTier: FreeTierSettings };
  /** Whether a workspace pays in advance. */
  isPrepaid?: (workspaceId: string) => boolean;
  /** Offers invoices for calls that the balance does not cover. */
  paidCalls?: Pick<PaidCalls, 'offer' | 'accept'>;
  /** Observers of all calls. */
  observers: readonly CallObserver[];
  log: Pick<Log, 'warn'>;
}

/** Routes of a plan that a trace includes. */
const tracedRoutesMax = 8;

/**
 * Plans, admits and opens a call. The hold is written while the request to the provider is already under way; the answer reaches the
 * client only once the hold is on disk.
 */
export async function startCall(deps: CallDeps, call: ModelCall): Promise<StartedCall> {
  const { inference } = call;
  const { meter, budget } = await admitted(deps, call);
  const { abort, canceled, release } = watchCancellation(call);
  let asked: Route | undefined;
  try {
    const opening =
      openedWithoutAnswer(budget.routes, inference) ??
      deps.router.open({
        routes: budget.routes,
        inference,
        outputTokensMaxFor: budget.outputTokensOn,
        signal: abort.signal,
        attempts: meter.attempts,
        onAttempt(route, attempt) {
          asked = route;
          meter.attemptStarted();
          const routed = { call, model: route.offer.model, provider: route.provider, attempt };
          for (const observer of observersOf(deps, call)) observer.onRouted?.(routed);
        },
        ...(!inference.stream && { readAhead: (answer, route) => readAhead(answer, route, meter) }),
      });
    const { route, answer, ended } = await withHold(opening, meter, inference);
    const output = createOutput(deps.makeId, sealFor(deps.sealer, call.caller.workspaceId));
    meter.answerStarted(route, output);
    if (answer.dropped) meter.dropped = answer.dropped;
    return { answer, route, finishRoute: ended, meter, output, abort, canceled, release };
  } catch (error) {
    abort.abort(error);
    release();
    const reason = canceled();
    const failure = reason ? cancellationError(reason) : asApiError(error);
    // A provider that was asked may have worked on the prompt before the call was canceled.
    if (reason && asked) meter.chargePromptOf(asked);
    await meter.settle(settleReasonOf(reason, failure.code)).catch(() => {});
    throw failure;
  }
}

/** An empty answer, for a call that wants none and whose providers would generate one; undefined for other calls. */
function openedWithoutAnswer(
  [route]: readonly Route[],
  inference: Inference,
): Promise<OpenedRoute> | undefined {
  if (!inference.wantsNoAnswer || route === undefined || speaksFormat(route, inference)) return undefined;
  async function* batches(): AsyncGenerator<Batch> {
    const events: Batch['events'] = [
      { type: 'usage', tokens: noTokens },
      { type: 'finished', reason: 'max_output_tokens' },
    ];
    yield { events, frames: undefined };
  }
  return Promise.resolve({ answer: { kind: 'stream', batches: batches() }, route, ended: () => {} });
}

/**
 * Waits for the hold before the first byte of a stream. A whole answer waits for its settlement anyway, which is written
 * after the hold; until the provider answers, a hold that cannot be written still ends the call.
 */
function withHold(opening: Promise<OpenedRoute>, meter: Meter, { stream }: Inference): Promise<OpenedRoute> {
  const committed = meter.holdCommitted();
  return new Promise((resolve, reject) => {
    committed.catch(reject);
    opening.then(stream ? (opened) => committed.then(() => resolve(opened), reject) : resolve, reject);
  });
}

/** A separate function, as a closure in `startCall` would retain the request for as long as the answer runs. */
function sealFor(sealer: Sealer, workspaceId: string) {
  return (origin: ReasoningOrigin) => sealer.seal(workspaceId, origin);
}

/** Plans a call and sets its money aside; a rejection is reported to the observers. */
function admitted(deps: CallDeps, call: ModelCall): Promise<{ meter: Meter; budget: OutputBudget }> {
  const startedAt = deps.world.elapsed();
  return admit(deps, call, startedAt).catch((error: unknown) => {
    const ms = deps.world.elapsed() - startedAt;
    for (const observer of observersOf(deps, call)) observer.onRejected?.({ call, error, ms });
    throw error;
  });
}

async function admit(deps: CallDeps, call: ModelCall, startedAt: number) {
  const { inference, options, caller, requestId, endpoint } = call;
  checkAction(policyOf(caller), endpoint);
  const policy = enforceKeyPolicy(deps, call);
  const input = inputTokens(inference);
  const cache = options.cache ?? defaultsOf(caller)?.cache ?? undefined;
  const planned = deps.router.plan({
    inference,
    inputTokensMax: input.most,
    options: cache === options.cache ? options : { ...options, cache },
    workspaceId: caller.workspaceId,
    caps: policy.caps,
    isPrepaid: policy.isPrepaid,
  });
  const allRoutes = planned instanceof Promise ? await planned : planned;
  const routes = capableRoutes(allRoutes, inference, input.most);
  const [best] = routes;
  if (!best) throw new TypeError('a plan has at least one route');
  const { marginPpm } = deps.settings;
  const bound = { inputTokens: input.most, marginPpm };
  let budget = uncappedBudget(routes, inference, bound);
  const promptEstimate = { ...noTokens, input: input.likely };
  const record: HoldRecord = {
    requestId,
    workspaceId: caller.workspaceId,
    keyId: credentialId(caller),
    endpoint,
    model: best.offer.model,
    streamed: inference.stream,
    ownKey: routes.every((route) => route.ownKey),
    amount: budget.amount,
    promptEstimate,
    promptCost: costOn(best, promptEstimate, marginPpm),
    createdAt: deps.world.now(),
  };
  let hold: Hold;
  try {
    if (call.request?.refused) throw paymentRefused();
    hold = await deps.admission.hold(record, {
      policy: policyOf(caller),
      isPrepaid: policy.isPrepaid,
      ...(caller.kind === 'agent' && {
        agent: {
          agentId: caller.agentId,
          outsideFreeTier: outsideFreeTier(
            call,
            { routes, inputTokensMax: input.most },
            deps.settings.freeTier,
          ),
        },
      }),
      fit(affordable) {
        const capped = capOutputToBudget(budget, inference, { ...bound, affordable });
        budget = capped ?? budget;
        return capped?.amount;
      },
    });
  } catch (error) {
    const priceWithin = (affordable: number) => invoicedCost({ routes }, inference, { ...bound, affordable });
    throw await withInvoice(deps, call, { error, priceWithin });
  }
  const observers = observersOf(deps, call);
  const meter = new Meter({
    admission: deps.admission,
    saveProgress(progress) {
      for (const observer of observers) observer.onProgress?.(call, progress);
      const { requestId, provider, tokens, cost } = progress;
      return deps.metering.progress({ requestId, provider, tokens, cost: cost ?? 0 });
    },
    clock: deps.world,
    marginPpm,
    hold,
    startedAt,
    routes: routes.slice(0, tracedRoutesMax).map(({ provider, offer }) => ({ provider, model: offer.model })),
    promptTokens: input.likely,
    outputTokensMax: budget.outputTokensBound,
    isCapped: budget.isCapped,
    observers,
  });
  const model = budget.routes[0]?.offer.model ?? best.offer.model;
  for (const observer of observers) observer.onAdmitted?.({ call, model });
  return { meter, budget };
}

/** A call with a payment that was refused is not made, whatever its balance. */
function paymentRefused(): PaymentDue {
  return new PaymentDue('payment_refused', { available: 0, affordable: Number.POSITIVE_INFINITY });
}

interface Rejection {
  error: unknown;
  /** The amount to pay for the call in advance; undefined if the amount offered is too little. */
  priceWithin: (affordable: NanoUsd) => NanoUsd | undefined;
}

/** The error of a call that was rejected: with an invoice if it only has to be paid. Fails with `rate_limited`. */
async function withInvoice(
  { paidCalls }: Pick<CallDeps, 'paidCalls'>,
  { caller, endpoint, request }: ModelCall,
  { error, priceWithin }: Rejection,
): Promise<unknown> {
  if (!(error instanceof PaymentDue) || !request || !paidCalls) return error;
  return await paidCalls.offer({
    caller,
    endpoint,
    request,
    due: error,
    price: priceWithin(error.affordable),
  });
}

/** The plan of an agent's call. */
interface PlannedCall {
  routes: readonly Route[];
  /** Upper bound of the input. */
  inputTokensMax: number;
}

/** Why a call is not part of the agents' free tier, as a sentence; undefined if it is. */
function outsideFreeTier(
  { inference }: Pick<ModelCall, 'inference'>,
  { routes, inputTokensMax }: PlannedCall,
  { models, inputTokens }: FreeTierSettings,
): string | undefined {
  const other = routes.find(({ offer }) => !models.some((pattern) => matchesPattern(pattern, offer.model)));
  if (other) return `The model ${other.offer.model} is not part of the free tier.`;
  if (inference.items.some(hasMedia)) return 'Images, audio and files are not part of the free tier.';
  if (inputTokensMax > inputTokens) {
    return `Requests of more than ${inputTokens} input tokens are not part of the free tier.`;
  }
  return undefined;
}

function hasMedia(item: InputItem): boolean {
  if (item.type === 'message') return item.content.some(({ type }) => type !== 'text' && type !== 'refusal');
  return item.type === 'function_call_output' && item.output.some(({ type }) => type !== 'text');
}
