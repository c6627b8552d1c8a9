import type { CallComparison, ComparedCall } from '../../../shared/comparison/compare-calls.ts';
import { previousCallQueries } from '../../../shared/comparison/previous-call.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { getTrace, listTraces } from '../../../shared/endpoints.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { call } from '../../data/api.ts';
import { readText } from '../../data/call-text.ts';

/** Two calls, the earlier one first, and how they differ. */
export interface Compared {
  before: TraceView;
  after: TraceView;
  comparison: CallComparison;
  /** Ids of calls whose request is not kept. */
  missing: string[];
}

/** Of which the replays are left out. */
const candidatesMax = 20;

/** Compares a call with another one, by default the one it followed. Undefined if there is none. */
export async function compareWith(
  trace: TraceView,
  otherId: string | undefined,
  signal: AbortSignal,
): Promise<Compared | undefined> {
  const other = await otherCall(trace, otherId, signal);
  if (other === undefined) return undefined;
  const [before, after] = [trace, other].toSorted(
    (first, second) => Date.parse(first.created_at) - Date.parse(second.created_at),
  ) as [TraceView, TraceView];
  const [earlier, later, { compareCalls }] = await Promise.all([
    withContent(before, signal),
    withContent(after, signal),
    import('../../../shared/comparison/compare-calls.ts'),
  ]);
  const missing = [earlier, later].filter(({ request }) => request === undefined).map(({ id }) => id);
  return { before, after, comparison: compareCalls(earlier, later), missing };
}

async function otherCall(
  trace: TraceView,
  id: string | undefined,
  signal: AbortSignal,
): Promise<TraceView | undefined> {
  const known = id ?? trace.replay_of ?? undefined;
  if (known !== undefined) return await call(getTrace, { params: { request_id: known } }, { signal });
  for (const query of previousCallQueries(trace)) {
    const { data } = await call(listTraces, { query: { ...query, limit: candidatesMax } }, { signal });
    // A replay is no part of the conversation that it repeats.
    const previous = data.find(({ replay_of: repeated }) => repeated === null);
    if (previous) return previous;
  }
  return undefined;
}

async function withContent(trace: TraceView, signal: AbortSignal): Promise<ComparedCall & { id: string }> {
  const { request_id: id, endpoint, model, provider } = trace;
  const [request, answer] = await Promise.all([bodyOf(id, 'request', signal), bodyOf(id, 'answer', signal)]);
  return { id, endpoint, model, provider, request, answer };
}

/** The JSON of a request or an answer, or its text; undefined if it is not kept. */
async function bodyOf(id: string, part: 'request' | 'answer', signal: AbortSignal): Promise<unknown> {
  const read = await readText(id, part, { signal }).catch((error) => {
    if (error instanceof ReceivedError && error.code === 'not_found') return undefined;
    throw error;
  });
  if (read?.text === undefined) return undefined;
  try {
    return JSON.parse(read.text.text);
  } catch {
    return read.text.text;
  }
}
