import { getTrace, listTraces } from '../../../shared/contract/traces.ts';
import { ApiError } from '../../../shared/errors.ts';
import { identified, implement } from '../../handler.ts';
import { pageOf } from '../../replies.ts';
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
