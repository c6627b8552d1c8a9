import type { NanoUsd } from '../../../../shared/money.ts';
import { credentialId } from '../../../handler.ts';
import { type Hold, type HoldRecord, PaymentDue } from '../../metering/index.ts';
import type { OpenedRoute, Route } from '../../routing/index.ts';
import { asApiError } from '../fault.ts';
import type { Inference, ReasoningOrigin } from '../neutral.ts';
import { costOn, inputTokens, noTokens } from '../pricing/cost-bound.ts';
import {
  capOutputToBudget,
  invoicedCost,
  type OutputBudget,
  uncappedBudget,
} from '../pricing/output-budget.ts';
import { type ModelCall, observersOf } from './call-observer.ts';
import { cancellationError, settleReasonOf, watchCancellation } from './cancellation.ts';
import { capableRoutes } from './capable-routes.ts';
import { outsideFreeTier } from './free-tier.ts';
import { checkAction, defaultsOf, enforceKeyPolicy, policyOf } from './key-policy.ts';
import { Meter } from './meter.ts';
import { createOutput } from './output.ts';
import type { Sealer } from './sealing.ts';
import type { CallDeps, StartedCall } from './started-call.ts';

/** Routes of a plan that a trace includes. */
const tracedRoutesMax = 8;

/**
 * Plans, admits and opens a call. The hold is written while the provider is already being asked; the answer reaches the
 * client only once the hold is on disk.
 */
export async function startCall(deps: CallDeps, call: ModelCall): Promise<StartedCall> {
  const { inference } = call;
  const { meter, budget } = await admitted(deps, call);
  const { abort, canceled, release } = watchCancellation(call);
  let asked: Route | undefined;
  try {
    const opening = deps.router.open({
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
    saveProgress({ requestId, provider, tokens, cost, ...shown }) {
      for (const observer of observers)
        observer.onProgress?.(call, { requestId, provider, tokens, cost, ...shown });
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
  /** What the call has to be paid with; undefined if the amount is too little for it. */
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
