import { heldForRoute } from '../rules/held-routes.ts';
import type { HoldRecord, UsageRecord } from '../store.ts';

/** What became of an admitted call. */
export interface CallOutcome
  extends Pick<
    UsageRecord,
    | 'status'
    | 'errorCode'
    | 'tokens'
    | 'tokensReported'
    | 'cost'
    | 'prices'
    | 'attempts'
    | 'ttftMs'
    | 'totalMs'
    | 'completedAt'
    | 'cache'
    | 'httpStatus'
    | 'trace'
  > {
  responseId?: string | null;
  /** The model that answered; by default that of the hold. */
  model?: string | undefined;
  provider: string | null;
  /** Whether a key of the workspace paid the provider; by default as in the hold. */
  ownKey?: boolean | undefined;
}

/** The record of a finished call. A hold is the promise made to the caller's budget: no call is charged more. */
export function usageRecord(hold: HoldRecord, outcome: CallOutcome): UsageRecord {
  const { cost } = outcome;
  const ownKey = hold.ownKey || (outcome.ownKey ?? false);
  const { model = hold.model, provider } = outcome;
  const most = hold.routes ? heldForRoute(hold, { model, provider }) : hold.amount;
  return {
    requestId: hold.requestId,
    responseId: outcome.responseId ?? null,
    workspaceId: hold.workspaceId,
    keyId: hold.keyId,
    ...(hold.budget !== undefined && { budget: hold.budget }),
    endpoint: hold.endpoint,
    model,
    provider,
    streamed: hold.streamed,
    ownKey,
    status: outcome.status,
    errorCode: outcome.errorCode,
    tokens: outcome.tokens,
    tokensReported: outcome.tokensReported,
    cost,
    prices: outcome.prices,
    charged: ownKey || !cost ? 0 : Math.min(cost.total, most),
    attempts: outcome.attempts,
    ttftMs: outcome.ttftMs,
    totalMs: outcome.totalMs,
    createdAt: hold.createdAt,
    completedAt: outcome.completedAt,
    labels: hold.labels,
    cache: outcome.cache,
    httpStatus: outcome.httpStatus,
    trace: outcome.trace,
  };
}
