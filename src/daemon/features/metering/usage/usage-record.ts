import type { ServedDayView, UsageSums, UsageView } from '../../../../shared/contract/usage.ts';
import type { CostView, TokenCounts } from '../../../../shared/contract/vocabulary.ts';
import { type Cost, formatUsd, type Tokens } from '../../../../shared/money/money.ts';
import { isoTime } from '../../../../shared/time/time.ts';
import { attemptView } from '../../routing/index.ts';
import { heldForRoute } from '../rules/held-routes.ts';
import type { CallTrace, HoldRecord, ServedDay, UsageGroup, UsageRecord } from '../store.ts';

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

/** The members that usage and traces share. */
export function finishedCallView(record: UsageRecord) {
  return {
    request_id: record.requestId,
    response_id: record.responseId,
    created_at: isoTime(record.createdAt),
    completed_at: isoTime(record.completedAt),
    endpoint: record.endpoint,
    model: record.model,
    provider: record.provider,
    key: record.keyId,
    streamed: record.streamed,
    status: record.status,
  };
}

export function usageView(record: UsageRecord): UsageView {
  return {
    ...finishedCallView(record),
    tokens: tokenCounts(record.tokens),
    cost: record.cost && costView(record.cost),
    charged_usd: formatUsd(record.charged),
    own_key: record.ownKey,
    ...subscriptionView(record.trace),
    attempts: record.attempts.map(attemptView),
    ttft_ms: record.ttftMs,
    total_ms: record.totalMs,
  };
}

/** How a call was paid for by the client's own login; nothing for all others. */
export function subscriptionView(trace: CallTrace | undefined) {
  if (trace?.subscription === undefined) return undefined;
  const { listCost } = trace.subscription;
  return { billing: 'subscription' as const, list_cost_usd: listCost === null ? null : formatUsd(listCost) };
}

/** The API's form of token counts. */
export function tokenCounts(tokens: Tokens): TokenCounts {
  return {
    input: tokens.input,
    cached_input: tokens.cachedInput,
    cache_write: tokens.cacheWrite,
    output: tokens.output,
    reasoning: tokens.reasoning,
  };
}

/** The API's form of a cost, in dollars. */
export function costView(cost: Cost): CostView {
  return {
    provider_usd: formatUsd(cost.provider),
    margin_usd: formatUsd(cost.margin),
    total_usd: formatUsd(cost.total),
  };
}

export function usageSums({
  requests,
  rejected,
  unpriced,
  tokens,
  cost,
  charged,
}: Omit<UsageGroup, 'groups'>): UsageSums {
  return {
    requests,
    rejected,
    unpriced_requests: unpriced,
    tokens: tokenCounts(tokens),
    cost: costView(cost),
    charged_usd: formatUsd(charged),
  };
}

/** The public totals, newest day first. Calls with a workspace's own provider key count as their own kind, and as paid. */
export function servedView(rows: readonly ServedDay[]): {
  total: Pick<ServedDayView, 'tokens' | 'input' | 'output' | 'requests'>;
  days: ServedDayView[];
} {
  const total = { tokens: 0, input: 0, output: 0, requests: 0 };
  const days = new Map<string, ServedDayView>();
  for (const row of rows) {
    const day = days.get(row.day) ?? emptyDay(row.day);
    days.set(row.day, day);
    const tokens = row.inputTokens + row.outputTokens;
    for (const sums of [total, day]) {
      sums.tokens += tokens;
      sums.input += row.inputTokens;
      sums.output += row.outputTokens;
      sums.requests += row.requests;
    }
    day.by_caller[row.ownKey ? 'own_key' : row.caller] += tokens;
    day.by_price_tier[row.ownKey ? 'paid' : row.tier] += tokens;
  }
  return { total, days: [...days.values()].sort((a, b) => (a.date < b.date ? 1 : -1)) };
}

function emptyDay(date: string): ServedDayView {
  return {
    date,
    tokens: 0,
    input: 0,
    output: 0,
    requests: 0,
    by_caller: { key: 0, agent: 0, own_key: 0 },
    by_price_tier: { paid: 0, free: 0 },
  };
}
