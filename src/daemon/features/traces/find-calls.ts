import { isMeant, isPattern } from '../../../shared/calls/query.ts';
import type { traceSortings } from '../../../shared/contract/traces.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { KeyOrLogin } from '../../base/handler.ts';
import type { CallStatus, UsageRecord } from '../metering/index.ts';
import { type CallSelection, queryFault } from './selection.ts';
import type { Rejection, RejectionsFilter, TracesFilter, TracesStore } from './store.ts';

/** Finds calls by a text in what was asked and answered, newest first. */
export interface CallContents {
  search(search: {
    workspaceId: string;
    text: string;
    keyId: string | undefined;
    since: number | undefined;
    until: number | undefined;
    after: string | undefined;
    limit: number;
  }): Promise<{ matches: { requestId: string }[]; scanned: number; next: string | null }>;
}

interface CallsDeps {
  store: TracesStore;
  content: CallContents;
}

export type Sorting = (typeof traceSortings)[number];

interface CallsQuery {
  selection: CallSelection;
  sort: Sorting;
  /** The workspaces whose rejections the reader sees. */
  visibleTo: () => Promise<(string | null)[]>;
  limit: number;
  after: string | undefined;
}

export interface FoundCalls {
  records: (UsageRecord | Rejection)[];
  /** The `after` of the next page. */
  next: string | undefined;
  scanned: number | undefined;
  /** Of a list that is not sorted by time. */
  isPartial: boolean | undefined;
}

/** Fails with `out_of_scope` for a key that may not search in what was asked and answered. */
export function checkText(reader: KeyOrLogin, { text }: CallSelection): void {
  if (text === undefined || reader.kind === 'login' || reader.scopes.has('content:read')) return;
  throw new ApiError('out_of_scope', {
    message: 'The key lacks the scope `content:read`, which a query with a text needs.',
  });
}

/** A page of finished and rejected calls. */
export async function findCalls(
  { store, content }: CallsDeps,
  reader: KeyOrLogin,
  query: CallsQuery,
): Promise<FoundCalls> {
  const { selection, sort } = query;
  if (selection.text !== undefined) {
    if (sort !== 'time')
      throw queryFault(`"${selection.text}"`, 'Calls that contain a text are listed by time.');
    return await callsWithText({ store, content }, reader, { ...query, text: selection.text });
  }
  return sort === 'time'
    ? await newestCalls(store, reader, query)
    : await sortedCalls(store, reader, { ...query, sort });
}

async function sortedCalls(
  store: TracesStore,
  { workspaceId }: KeyOrLogin,
  { selection, limit, after, sort }: CallsQuery & { sort: 'total_ms' | 'cost' },
): Promise<FoundCalls> {
  // One more shows whether there is another page.
  const found = await store.sorted({ ...selection, workspaceId, sort, after, limit: limit + 1 });
  const { calls, scanned, isPartial } = found;
  const next = calls.length > limit && !isPartial ? calls[limit - 1]?.requestId : undefined;
  return { records: calls.slice(0, limit), next, scanned, isPartial };
}

async function newestCalls(
  store: TracesStore,
  { workspaceId }: KeyOrLogin,
  { selection, limit, after, visibleTo }: CallsQuery,
): Promise<FoundCalls> {
  const page = { since: selection.since, until: selection.until, after, limit: limit + 1 };
  const listed = listFilter(selection);
  const { calls, end, scanned } = listed
    ? { calls: await store.list({ ...page, ...listed, workspaceId }), end: undefined, scanned: undefined }
    : await store.search({ ...page, ...selection, workspaceId });
  const rejections = hasRejections(selection)
    ? await store.listRejections({ ...page, ...rejected(selection), workspaceIds: await visibleTo() })
    : [];
  // What is older than the last call that was looked at comes on the next page.
  const seen = end ? rejections.filter(({ completedAt }) => completedAt > end.completedAt) : rejections;
  const records = newestFirst([...calls, ...seen]);
  const next = records.length > limit ? records[limit - 1]?.requestId : end?.requestId;
  return { records: records.slice(0, limit), next, scanned, isPartial: undefined };
}

/** A page of what the search in contents finds, without the calls that do not match the other filters. */
async function callsWithText(
  { store, content }: CallsDeps,
  reader: KeyOrLogin,
  { selection, limit, after, visibleTo, text }: CallsQuery & { text: string },
): Promise<FoundCalls> {
  const { workspaceId } = reader;
  const { since, until } = selection;
  const found = await content.search({ workspaceId, text, keyId: undefined, since, until, after, limit });
  const requestIds = [...new Set(found.matches.map(({ requestId }) => requestId))];
  const calls = await store.matching({ ...selection, workspaceId }, requestIds);
  const rejections = hasRejections(selection)
    ? await store.listRejections({
        ...rejected(selection),
        since,
        until,
        after: undefined,
        limit,
        requestIds,
        workspaceIds: await visibleTo(),
      })
    : [];
  const byId = new Map([...calls, ...rejections].map((record) => [record.requestId, record]));
  return {
    records: requestIds.flatMap((id) => byId.get(id) ?? []),
    next: found.next ?? undefined,
    scanned: found.scanned,
    isPartial: undefined,
  };
}

/** The filters of a list without a search: at most one value of these fields. */
function listFilter({
  terms,
  minTotalMs,
  minCost,
  hasQuery,
}: CallSelection): Pick<TracesFilter, 'status' | 'model' | 'provider' | 'keyId'> | undefined {
  if (hasQuery || minTotalMs !== undefined || minCost !== undefined) return undefined;
  const filter: Pick<TracesFilter, 'status' | 'model' | 'provider' | 'keyId'> = {
    status: undefined,
    model: undefined,
    provider: undefined,
    keyId: undefined,
  };
  for (const { field, values, isExact } of terms) {
    const [value = ''] = values;
    if (values.length > 1 || isPattern(value, { isExact }) || value === 'rejected') return undefined;
    if (field === 'status') filter.status = value as CallStatus;
    else if (field === 'model' || field === 'provider' || field === 'keyId') filter[field] = value;
    else return undefined;
  }
  return filter;
}

/** A rejected call has no provider and no cost. */
export function hasRejections({ terms, minCost = 0 }: CallSelection): boolean {
  const isPossible = (term: CallSelection['terms'][number]) => {
    if (term.field === 'provider') return term.isExcluded;
    if (term.field !== 'status') return true;
    return isMeant('rejected', term) !== term.isExcluded;
  };
  return minCost === 0 && terms.every(isPossible);
}

/** The filters of rejected calls, all of which have the same status. */
export function rejected({
  terms,
  minTotalMs,
}: CallSelection): Pick<RejectionsFilter, 'terms' | 'minTotalMs'> {
  return { terms: terms.filter(({ field }) => field !== 'status' && field !== 'provider'), minTotalMs };
}

/** Keeps the order of the store within a millisecond: finished calls first. */
function newestFirst(records: (UsageRecord | Rejection)[]): (UsageRecord | Rejection)[] {
  return records.sort((one, other) => other.completedAt - one.completedAt);
}
