import { ApiError } from '../../../shared/errors.ts';
import { noCost } from '../../../shared/money.ts';
import { credentialId, type Identified } from '../../handler.ts';
import type { World } from '../../world.ts';
import { type CallObserver, checkAction, noTokens, policyOf } from '../inference/index.ts';
import { type Admission, settlementFor, type UsageRecord } from '../metering/index.ts';
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
}

/**
 * Runs a decision of a caller with a workspace: within the limits of its key or its daily allowance, and recorded as usage
 * that is charged nothing. Fails with `limit_reached`, `agent_daily_limit` or `unavailable` before it runs.
 */
export async function metered(
  { world, admission, isPrepaid, observers }: MeteringDeps,
  { caller, requestId, endpoint, model }: MeteredCall,
  run: () => Promise<Decided>,
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
    },
    {
      policy: policyOf(caller),
      isPrepaid: isPrepaid(caller.workspaceId),
      fit: () => 0,
      ...(caller.kind === 'agent' && { agent: { agentId: caller.agentId, outsideFreeTier: undefined } }),
    },
  );
  const elapsedMs = () => Math.round(world.elapsed() - startedAt);
  const admittedMs = elapsedMs();
  const settle = async (decided: Decided | undefined, errorCode: string | null) => {
    const { record } = hold;
    const answer = decided?.answer;
    const attempts = decided?.service.attempts ?? [];
    const usage: UsageRecord = {
      requestId,
      endpoint,
      responseId: decided?.id ?? null,
      streamed: false,
      workspaceId: record.workspaceId,
      keyId: record.keyId,
      createdAt: record.createdAt,
      model: answer?.model ?? model,
      provider: decided?.service.answered_by ?? null,
      ownKey: answer?.ownKey ?? false,
      status: decided ? 'completed' : 'failed',
      errorCode,
      tokens: answer?.tokens ?? noTokens,
      tokensReported: decided !== undefined,
      cost: answer ? answer.cost : noCost,
      charged: 0,
      attempts: [
        ...attempts.map(({ source, outcome: code, ms }) => ({
          provider: source,
          model,
          status: 0,
          errorCode: code,
          ms,
        })),
        ...(decided && answer
          ? [
              {
                provider: decided.service.answered_by,
                model: answer.model,
                status: 200,
                errorCode: null,
                ms: elapsedMs(),
              },
            ]
          : []),
      ],
      ttftMs: null,
      totalMs: elapsedMs(),
      completedAt: world.now(),
      trace: { admittedMs, heldMs: null, startedMs: [], finishReason: null, routes: [] },
    };
    await admission.settle(hold, settlementFor(usage));
    for (const observer of observers) observer.onSettled?.(usage, elapsedMs());
  };
  const decided = await run().catch(async (error: unknown) => {
    await settle(undefined, error instanceof ApiError ? error.code : 'server_error').catch(() => {});
    throw error;
  });
  await settle(decided, null);
  return decided;
}
