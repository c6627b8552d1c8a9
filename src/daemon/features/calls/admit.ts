import { loopTurns } from '../../../shared/async/loop-turns.ts';
import { asApiError } from '../../../shared/errors.ts';
import { gatewayKeyHeader } from '../../../shared/http/gateway-key.ts';
import type { NanoUsd } from '../../../shared/money/money.ts';
import { credentialId } from '../../base/handler.ts';
import { matchesPattern } from '../catalog/index.ts';
import type { CallSlots } from '../concurrency/index.ts';
import type { CallGuard } from '../guardrails/index.ts';
import {
  type CallTrace,
  type FreeTierSettings,
  type Hold,
  type HoldRecord,
  PaymentDue,
} from '../metering/index.ts';
import type { Route } from '../routing/index.ts';
import type { Inference, InputItem } from '../upstreams/neutral.ts';
import { subscriptionIn } from '../upstreams/subscription.ts';
import type { CallCapture } from './call-capture.ts';
import type { CallDeps } from './call-deps.ts';
import { type ModelCall, observersOf } from './call-observer.ts';
import { capableRoutes } from './capable-routes.ts';
import {
  checkAction,
  defaultsOf,
  enforceKeyPolicy,
  isCostLimitedOn,
  limitsConcurrency,
  policyOf,
  requireKnownCost,
} from './key-policy.ts';
import { Meter } from './meter.ts';
import {
  capOutputToBudget,
  costOn,
  heldRoutes,
  inputTokens,
  invoicedCost,
  noTokens,
  type OutputCap,
  wholeOutput,
} from './pricing/cost-bound.ts';
import { ClientLeft, takeSlots } from './take-slots.ts';

/** Routes of a plan that a trace includes. */
const tracedRoutesMax = 8;

/** A call whose money is set aside. */
export interface Admitted {
  meter: Meter;
  /** The routes to try, and the output that the hold pays for. */
  cap: OutputCap;
  /** Its places among those that run at a time; undefined if nothing limits them. */
  slots: CallSlots | undefined;
}

/**
 * Plans a call, waits until its limits of concurrent calls let it start, and sets its money aside; a rejection is reported to
 * the observers. Fails with the errors of the key's policy and limits, of routing, and with an invoice if the call only has to
 * be paid.
 */
export async function admit(
  deps: CallDeps,
  call: ModelCall,
  capture: CallCapture | undefined,
  guard: CallGuard | undefined,
): Promise<Admitted> {
  const startedAt = guard?.startedAt ?? deps.world.elapsed();
  let slots: CallSlots | undefined;
  try {
    const plan = await planCall(deps, call, guard);
    if (deps.settings.hasConcurrency || limitsConcurrency(policyOf(call.caller)))
      slots = await takeSlots(deps, call, { routes: plan.routes, startedAt });
    const { hold, cap } = await reserve(deps, call, plan);
    const meter = meterOf(deps, call, { plan, hold, cap, startedAt, slots, captured: capture?.level });
    const model = cap.routes[0]?.offer.model ?? hold.record.model;
    for (const observer of observersOf(deps, call)) observer.onAdmitted?.({ call, model });
    return { meter, cap, slots };
  } catch (error) {
    slots?.release();
    const ms = deps.world.elapsed() - startedAt;
    // One whose client left is reported as a request.
    if (!(error instanceof ClientLeft))
      for (const observer of observersOf(deps, call)) observer.onRejected?.({ call, error, ms });
    capture?.rejected(asApiError(error));
    throw error;
  }
}

/** The routes of a call that its key may use, best first; never empty. */
interface CallPlan {
  routes: [Route, ...Route[]];
  input: ReturnType<typeof inputTokens>;
  isPrepaid: boolean;
  isCostLimited: boolean;
}

async function planCall(deps: CallDeps, call: ModelCall, guard: CallGuard | undefined): Promise<CallPlan> {
  const { inference, options, caller, endpoint } = call;
  checkAction(policyOf(caller), endpoint);
  const { caps, isPrepaid, isCostLimited } = enforceKeyPolicy(deps, call);
  const input = inputOf(inference, guard?.replaced);
  const turn = loopTurns.next(input.most);
  if (turn !== undefined) await turn;
  const cache = options.cache ?? defaultsOf(caller)?.cache ?? undefined;
  const planning = deps.router.plan({
    requestId: call.requestId,
    inference,
    inputTokensMax: input.most,
    options: cache === options.cache ? options : { ...options, cache },
    workspaceId: caller.workspaceId,
    subscription:
      call.request?.headers[gatewayKeyHeader] === undefined
        ? undefined
        : subscriptionIn(call.request.headers, inference.wire),
    caps,
    isPrepaid,
  });
  const plan = planning instanceof Promise ? await planning : planning;
  const [best, ...others] = capableRoutes(plan, inference, input.most);
  if (!best) throw new TypeError('a plan has at least one route');
  const routes: CallPlan['routes'] = [best, ...others];
  const isCounted = !isCostLimited && isCostLimitedOn(routes, caps);
  if (isCounted) requireKnownCost(inference, 'within a hard budget');
  return { routes, input, isPrepaid, isCostLimited: isCostLimited || isCounted };
}

/** The tokens of the input: on a route, it may be sent with other texts in place of some. */
function inputOf(inference: Inference, replaced: Inference | undefined): ReturnType<typeof inputTokens> {
  const input = inputTokens(inference);
  return replaced === undefined
    ? input
    : { ...input, most: Math.max(input.most, inputTokens(replaced).most) };
}

/** Sets aside the most that the call can cost, with a shorter output if the caller can pay only for that. */
async function reserve(deps: CallDeps, call: ModelCall, { routes, input, isPrepaid }: CallPlan) {
  const { inference, caller, requestId, endpoint, labels } = call;
  const { marginPpm, freeTier } = deps.settings;
  const bound = { inputTokens: input.most, marginPpm };
  const whole = wholeOutput(routes, inference, bound);
  let cap = whole;
  const promptEstimate = { ...noTokens, input: input.likely };
  const [best] = routes;
  const isRouted = deps.budgets?.hasRouted(caller.workspaceId) === true;
  const record: HoldRecord = {
    requestId,
    workspaceId: caller.workspaceId,
    keyId: credentialId(caller),
    ...(caller.kind === 'autopilot' && { budget: caller.autopilotId }),
    endpoint,
    model: best.offer.model,
    streamed: inference.stream,
    ownKey: routes.every((route) => route.ownKey),
    amount: whole.amount,
    promptEstimate,
    promptCost: costOn(best, promptEstimate, marginPpm),
    createdAt: deps.world.now(),
    labels,
    ...(isRouted && { routes: heldRoutes(whole, inference, bound) }),
  };
  try {
    if (call.request?.refused) throw paymentRefused();
    const hold = await deps.admission.hold(record, {
      policy: policyOf(caller),
      isPrepaid,
      ...(caller.kind === 'agent' && {
        agent: {
          agentId: caller.agentId,
          outsideFreeTier: outsideFreeTier(call, { routes, input }, freeTier),
          hasMaximum: inference.outputTokensMax !== undefined,
        },
      }),
      fit(affordable, { isWhole, leftOn }) {
        const capped = capOutputToBudget(whole, inference, { ...bound, affordable, isWhole, leftOn });
        cap = capped ?? whole;
        return capped?.amount;
      },
      ...(isRouted && { fittedRoutes: () => heldRoutes(cap, inference, bound) }),
    });
    return { hold, cap };
  } catch (error) {
    const priceWithin = (affordable: number) => invoicedCost({ routes }, inference, { ...bound, affordable });
    throw await withInvoice(deps, call, { error, priceWithin });
  }
}

interface Reserved {
  plan: CallPlan;
  hold: Hold;
  cap: OutputCap;
  startedAt: number;
  slots: CallSlots | undefined;
  captured: CallTrace['captured'];
}

function meterOf(
  deps: CallDeps,
  call: ModelCall,
  { plan, hold, cap, startedAt, slots, captured }: Reserved,
): Meter {
  const observers = observersOf(deps, call);
  return new Meter({
    admission: deps.admission,
    saveProgress(progress) {
      for (const observer of observers) observer.onProgress?.(call, progress);
      const { requestId, provider, tokens, cost } = progress;
      return deps.metering.progress({ requestId, provider, tokens, cost: cost ?? 0 });
    },
    clock: deps.world,
    marginPpm: deps.settings.marginPpm,
    hold,
    startedAt,
    ...(slots && { waits: slots.waits, onEnd: () => slots.release() }),
    routes: plan.routes
      .slice(0, tracedRoutesMax)
      .map(({ provider, offer }) => ({ provider, model: offer.model })),
    captured,
    prompt: plan.input,
    promptParam: call.inference.wire === 'responses' ? 'input' : 'messages',
    outputTokensMax: cap.outputTokensBound,
    isCapped: cap.isCapped,
    isCostLimited: plan.isCostLimited,
    observers,
  });
}

/** A call with a payment that was refused is not made, whatever its balance. */
function paymentRefused(): PaymentDue {
  return new PaymentDue('payment_refused', { available: 0, affordable: Number.POSITIVE_INFINITY });
}

interface UnaffordableCall {
  error: unknown;
  /** The amount to pay for the call in advance; undefined if the amount offered is too little. */
  priceWithin: (affordable: NanoUsd) => NanoUsd | undefined;
}

/** The error of a call that was rejected: with an invoice if it only has to be paid. Fails with `rate_limited`. */
async function withInvoice(
  { paidCalls }: Pick<CallDeps, 'paidCalls'>,
  { caller, endpoint, request }: ModelCall,
  { error, priceWithin }: UnaffordableCall,
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

/** Why a call is not part of the agents' free tier, as a sentence; undefined if it is. */
function outsideFreeTier(
  { inference }: Pick<ModelCall, 'inference'>,
  { routes, input }: Pick<CallPlan, 'routes' | 'input'>,
  { models, inputTokens }: FreeTierSettings,
): string | undefined {
  const other = routes.find(({ offer }) => !models.some((pattern) => matchesPattern(pattern, offer.model)));
  if (other) return `The model ${other.offer.model} is not part of the free tier.`;
  if (inference.items.some(hasMedia)) return 'Images, audio and files are not part of the free tier.';
  if (input.most > inputTokens) {
    return `Requests of more than ${inputTokens} input tokens are not part of the free tier.`;
  }
  return undefined;
}

function hasMedia(item: InputItem): boolean {
  if (item.type === 'message') return item.content.some(({ type }) => type !== 'text' && type !== 'refusal');
  return item.type === 'function_call_output' && item.output.some(({ type }) => type !== 'text');
}
