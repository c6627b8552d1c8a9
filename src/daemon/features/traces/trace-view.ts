import type { TraceView } from '../../../shared/contract/traces.ts';
import { formatUsd } from '../../../shared/money.ts';
import { costView, finishedCallView, tokenCounts, type UsageRecord } from '../metering/index.ts';

/** A finished call with its times; what an earlier version did not write down is null. */
export function traceView(record: UsageRecord, settledMs: number | null): TraceView {
  const { trace } = record;
  return {
    ...finishedCallView(record),
    error_code: record.errorCode,
    finish_reason: trace?.finishReason ?? null,
    timings: {
      admitted_ms: trace?.admittedMs ?? null,
      held_ms: trace?.heldMs ?? null,
      first_token_ms: record.ttftMs,
      total_ms: record.totalMs,
      settled_ms: settledMs,
    },
    attempts: record.attempts.map((attempt, place) => {
      const started = trace?.startedMs[place] ?? null;
      return {
        provider: attempt.provider,
        model: attempt.model,
        status: attempt.status,
        error_code: attempt.errorCode,
        started_ms: started,
        ended_ms: started === null ? null : Math.round((started + attempt.ms) * 10) / 10,
      };
    }),
    routes: trace?.routes.map(({ provider, model }) => ({ provider, model })) ?? null,
    tokens: tokenCounts(record.tokens),
    tokens_reported: record.tokensReported,
    cost: record.cost && costView(record.cost),
    charged_usd: formatUsd(record.charged),
    own_key: record.ownKey,
  };
}
