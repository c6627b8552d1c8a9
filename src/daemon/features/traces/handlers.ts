import { getTrace, listTraces } from '../../../shared/contract/traces.ts';
import { pageSizeDefault } from '../../../shared/contract/vocabulary.ts';
import { ApiError } from '../../../shared/errors.ts';
import { identified, implement } from '../../handler.ts';
import { timeBound } from '../metering/index.ts';
import type { SettledTimes } from './settled-times.ts';
import { traceView } from './trace-view.ts';
import type { TracesStore } from './traces-store.ts';

interface TracesNeeds {
  store: TracesStore;
  settledTimes: Pick<SettledTimes, 'of'>;
}

/** Traces are a workspace's: whoever may read them sees the calls of every key, as in the events. */
export const traceHandlers = ({ store, settledTimes }: TracesNeeds) => [
  implement(getTrace, async ({ caller, params }) => {
    const record = await store.find(identified(caller).workspaceId, params.request_id);
    if (!record) throw new ApiError('not_found', { message: 'There is no finished request with that id.' });
    return traceView(record, settledTimes.of(record.requestId));
  }),

  implement(listTraces, async ({ caller, query }) => {
    const { limit = pageSizeDefault, status, model, provider, key, after } = query;
    const found = await store.list({
      workspaceId: identified(caller).workspaceId,
      status,
      model,
      provider,
      keyId: key,
      since: timeBound('since', query.since),
      until: timeBound('until', query.until),
      after,
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const hasMore = found.length > limit;
    return {
      object: 'list',
      data: page.map((record) => traceView(record, settledTimes.of(record.requestId))),
      has_more: hasMore,
      next: hasMore ? (page.at(-1)?.requestId ?? null) : null,
    };
  }),
];
