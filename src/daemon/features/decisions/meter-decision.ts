import type { CallLabels } from '../../../shared/constants/call-labels.ts';
import { type ApiError, asApiError } from '../../../shared/errors.ts';
import { noCost } from '../../../shared/money/money.ts';
import { credentialId, type Identified } from '../../base/handler.ts';
import type { World } from '../../base/world.ts';
import {
  type CallCapture,
  type CallObserver,
  checkAction,
  HeldCall,
  noTokens,
  policyOf,
} from '../calls/index.ts';
import type { Admission, CallOutcome } from '../metering/index.ts';
import type { Attempt } from '../routing/index.ts';
import type { Decided } from './render-decision.ts';

export interface MeteringDeps {
  world: Pick<World, 'now' | 'elapsed'>;
  admission: Pick<Admission, 'hold' | 'settle'>;
  /** Whether a workspace pays in advance. */
  isPrepaid: (workspaceId: string) => boolean;
  /** Learn of settled decisions, as of model calls. */
  observers: readonly Pick<CallObserver, 'onSettled'>[];
}

interface MeteredCall {
  caller: Identified;
  requestId: string;
  endpoint: string;
  model: string;
  labels: CallLabels;
}

interface MeteredRun {
  /** Begins to keep the content of the decision, once it is admitted. */
  capture: () => CallCapture | undefined;
  run: (capture: CallCapture | undefined) => Promise<Decided>;
}

/**
 * Runs a decision of a caller with a workspace: within the limits of its key or its daily allowance, and recorded as usage
 * that is charged nothing. Fails with `limit_reached`, `agent_daily_limit` or `unavailable` before it runs.
 */
export async function meterDecision(
  { world, admission, isPrepaid, observers }: MeteringDeps,
  { caller, requestId, endpoint, model, labels }: MeteredCall,
  { capture, run }: MeteredRun,
): Promise<Decided> {
  checkAction(policyOf(caller), endpoint);
  const startedAt = world.elapsed();
  const hold = await admission.hold(
    {
      requestId,
      workspaceId: caller.workspaceId,
      keyId: credentialId(caller),
      endpoint,
      model,
      streamed: false,
      ownKey: false,
      amount: 0,
      promptEstimate: noTokens,
      promptCost: 0,
      createdAt: world.now(),
      labels,
    },
    {
      policy: policyOf(caller),
      isPrepaid: isPrepaid(caller.workspaceId),
      fit: () => 0,
      ...(caller.kind === 'agent' && {
        agent: { agentId: caller.agentId, outsideFreeTier: undefined, hasMaximum: false },
      }),
    },
  );
  const held = new HeldCall({ admission, hold, observers, clock: world, startedAt });
  const admittedMs = Math.round(held.sinceStart());
  const begun = capture();
  const outcomeOf = (decided: Decided | undefined, error: ApiError | undefined) => (): CallOutcome => {
    const totalMs = Math.round(held.sinceStart());
    const answer = decided?.answer;
    return {
      status: decided ? 'completed' : 'failed',
      errorCode: error?.code ?? null,
      responseId: decided?.id ?? null,
      model: answer?.model,
      provider: decided?.service.answered_by ?? null,
      ownKey: answer?.ownKey,
      tokens: answer?.tokens ?? noTokens,
      tokensReported: decided !== undefined,
      cost: answer ? answer.cost : noCost,
      prices: null,
      attempts: attemptsOf(model, decided, totalMs),
      ttftMs: null,
      totalMs,
      completedAt: world.now(),
      cache: null,
      httpStatus: error ? error.status : 200,
      trace: {
        admittedMs,
        heldMs: null,
        startedMs: [],
        finishReason: null,
        routes: [],
        ...(begun && { captured: begun.level }),
      },
    };
  };
  const decided = await run(begun).catch(async (error: unknown) => {
    await held.settle(outcomeOf(undefined, asApiError(error))).catch(() => {});
    throw error;
  });
  await held.settle(outcomeOf(decided, undefined));
  return decided;
}

/** The sources that were asked: those that failed, then the one that answered. */
function attemptsOf(model: string, decided: Decided | undefined, ms: number): Attempt[] {
  if (!decided) return [];
  const { answer, service } = decided;
  const failed = service.attempts.map(({ source, outcome, ms }) => ({
    provider: source,
    model,
    status: 0,
    errorCode: outcome,
    ms,
  }));
  return [
    ...failed,
    { provider: service.answered_by, model: answer.model, status: 200, errorCode: null, ms },
  ];
}
