import { computed, effect, signal } from '@preact/signals';
import { formatQuery, isQueryFault, parseQuery } from '../../../shared/calls/query.ts';
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

/** What the list is sorted by, the highest first; by time if undefined. */
export type CallSorting = 'cost' | 'total_ms';
export const listedSort = signal<CallSorting | undefined>(undefined);

/** Whether calls may be missing in a sorted list, as there was no time to look at all. */
export const isPartialList = signal(false);

const parsed = computed(() => parseQuery(listedQuery.value));

/** Why the query cannot be read, if it cannot. */
export const queryFault = computed(() => (isQueryFault(parsed.value) ? parsed.value.message : undefined));

/** What the daemon is asked for: all calls as long as the query cannot be read. */
export const filters = computed<{ q?: string }>(() => {
  const isAsked = queryFault.value === undefined && listedQuery.value !== '';
  return isAsked ? { q: listedQuery.value } : {};
});

/** The filters by which calls can be counted, and the text by which they cannot. */
export const counted = computed<{ filters: { q?: string }; text: string | undefined }>(() => {
  const query = parsed.value;
  if (isQueryFault(query) || query.text === undefined) return { filters: filters.value, text: undefined };
  const { text, ...rest } = query;
  const q = formatQuery(rest);
  return { filters: q === '' ? {} : { q }, text };
});

/** What the daemon can sort by: calls that contain a text are listed by time. */
const sorting = computed(() => (counted.value.text === undefined ? listedSort.value : undefined));

function listOf(chosen: { q?: string }, sort?: CallSorting): PagedList<TraceView> {
  return new PagedList(async (after, signal) => {
    const page = {
      limit: pageSize,
      fields: 'brief' as const,
      ...(sort && { sort }),
      ...(after && { after }),
    };
    const found = await call(listTraces, { query: { ...chosen, ...page } }, { signal });
    isPartialList.value = found.is_partial === true;
    return found;
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

/** The call that was looked at last, or that the keyboard is on. */
export const lastCall = signal<string | undefined>(undefined);

/** Where the list is scrolled to while a call is shown. */
export let listPlace = { top: 0 };

effect(() => {
  const chosen = filters.value;
  const sort = sorting.value;
  // Another login sees other calls.
  void login.value;
  calls.peek().stop();
  calls.value = listOf(chosen, sort);
  listPlace = { top: 0 };
  isPartialList.value = false;
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
