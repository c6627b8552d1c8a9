import { getTrace, listTraces, type TraceView } from '../../../shared/contract/traces.ts';
import { ApiError } from '../../../shared/errors.ts';
import { formatUsd } from '../../../shared/money.ts';
import { identified, implement } from '../../handler.ts';
import { pageOf } from '../../replies.ts';
import { costView, finishedCallView, timeBound, tokenCounts, type UsageRecord } from '../metering/index.ts';
import { attemptView } from '../routing/index.ts';
import type { SettledTimes } from './settled-times.ts';
import type { TracesStore } from './store.ts';

interface TracesDeps {
  store: TracesStore;
  settledTimes: Pick<SettledTimes, 'of'>;
}

/** A caller that may read traces sees the calls of every key of its workspace, as in the events. */
export const traceHandlers = ({ store, settledTimes }: TracesDeps) => [
  implement(getTrace, async ({ caller, params }) => {
    const record = await store.find(identified(caller).workspaceId, params.request_id);
    if (!record) throw new ApiError('not_found', { message: 'There is no finished request with this id.' });
    return traceView(record, settledTimes.of(record.requestId));
  }),

  implement(listTraces, async ({ caller, query }) => {
    const { status, model, provider, key: keyId } = query;
    const filter = {
      workspaceId: identified(caller).workspaceId,
      status,
      model,
      provider,
      keyId,
      since: timeBound('since', query.since),
      until: timeBound('until', query.until),
    };
    return await pageOf(query, (page) => store.list({ ...filter, ...page }), {
      view: (record) => traceView(record, settledTimes.of(record.requestId)),
      idOf: ({ requestId }) => requestId,
    });
  }),
];

/** What an earlier version did not record is null. */
function traceView(record: UsageRecord, settledMs: number | null): TraceView {
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
    attempts: record.attempts.map((attempt, index) => {
      const started = trace?.startedMs[index] ?? null;
      const { ms, ...view } = attemptView(attempt);
      return {
        ...view,
        started_ms: started,
        ended_ms: started === null ? null : Math.round((started + ms) * 10) / 10,
      };
    }),
    routes: trace?.routes.map(({ provider, model }) => ({ provider, model })) ?? null,
    tokens: tokenCounts(record.tokens),
    tokens_reported: record.tokensReported,
    cost: record.cost && costView(record.cost),
    charged_usd: formatUsd(record.charged),
    own_key: record.ownKey,
    dropped: (trace?.dropped ?? []).map(({ param, type }) => ({
      param,
      ...(type !== undefined && { type }),
    })),
  };
}
