import { computed, effect, signal } from '@preact/signals';
import { isQueryFault, parseQuery } from '../../../shared/calls/query.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { listTraces } from '../../../shared/endpoints.ts';
import { isEndOfRequest } from '../../../view/call-row.ts';
import { sum } from '../../../view/numbers.ts';
import { call } from '../../data/api.ts';
import { onEvents } from '../../data/live.ts';
import { login } from '../../data/login.ts';
import { PagedList } from '../../data/pages.ts';

const pageSize = 50;

/** The query whose calls are listed. */
export const listedQuery = signal('');

const parsed = computed(() => parseQuery(listedQuery.value));

/** Why the query cannot be read, if it cannot. */
export const queryFault = computed(() => (isQueryFault(parsed.value) ? parsed.value.message : undefined));

/** What the daemon is asked for: all calls as long as the query cannot be read. */
export const filters = computed<{ q?: string }>(() => {
  const isAsked = queryFault.value === undefined && listedQuery.value !== '';
  return isAsked ? { q: listedQuery.value } : {};
});

function listOf(chosen: { q?: string }): PagedList<TraceView> {
  return new PagedList((after, signal) => {
    const query = { ...chosen, limit: pageSize, fields: 'brief' as const, ...(after && { after }) };
    return call(listTraces, { query }, { signal });
  });
}

/** The calls of the query; they stay while one of them is looked at. */
export const calls = signal(listOf({}));
let isStarted = false;

/** Calls that ended since the list was loaded, whether or not they match. */
export const newCalls = signal(0);

onEvents((events) => {
  const ended = events.map(({ type, data }) =>
    isEndOfRequest(type) ? 1 : type === 'calls.digest' ? Number(data.finished) : 0,
  );
  const count = sum(ended);
  if (count > 0) newCalls.value += count;
});

/** Loads the first page again. */
export function reloadCalls(): void {
  newCalls.value = 0;
  calls.value.reload();
}

effect(() => {
  const chosen = filters.value;
  // Another login sees other calls.
  void login.value;
  calls.peek().stop();
  calls.value = listOf(chosen);
  newCalls.value = 0;
  if (isStarted) calls.peek().reload();
});

/** Loads the calls, once. */
export function startCalls(): void {
  if (isStarted) return;
  isStarted = true;
  calls.value.reload();
}

/** The calls before and after one in the list, as it is sorted. */
export function neighbours(id: string): { previous: string | undefined; next: string | undefined } {
  const rows = calls.value.rows.value;
  const at = rows.findIndex(({ request_id }) => request_id === id);
  if (at < 0) return { previous: undefined, next: undefined };
  if (at >= rows.length - 1) calls.value.more();
  return { previous: rows[at - 1]?.request_id, next: rows[at + 1]?.request_id };
}
