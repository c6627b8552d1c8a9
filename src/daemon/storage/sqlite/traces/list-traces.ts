import type { TracesFilter } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { type IndexKind, indexKinds, isListed } from '../metering/usage/index-kinds.ts';
import { dayMs, foldedTo } from '../metering/usage/usage-totals.ts';
import { pageEnd } from './page-end.ts';

/** A filter by the number of a name. */
interface Condition {
  column: 'key' | 'model' | 'provider' | 'status';
  value: number;
  /** Whether `call_index` lists the calls that match. */
  isIndexed: boolean;
}

interface SearchRange {
  workspace: number;
  since: number;
  until: number;
  /** The last call of the previous page. */
  after: { number: number; completedAt: number } | undefined;
  limit: number;
}

/**
 * Returns the numbers of a page of finished calls. The index lists them by each filter; with several, the daily totals tell
 * which one matches the fewest calls, and how many days to search.
 */
export function listTraces(database: Connection, names: NameTexts, filter: TracesFilter): number[] {
  return database.transaction(() => {
    const workspace = names.numberOf(filter.workspaceId);
    const conditions = conditionsOf(names, filter);
    if (workspace === undefined || !conditions) return [];
    const after =
      filter.after === undefined
        ? undefined
        : pageEnd(database, names, [filter.workspaceId, ''], filter.after);
    if (filter.after !== undefined && !after) return [];
    const { since = 0, until = Number.MAX_SAFE_INTEGER, limit } = filter;
    const range = { workspace, since, until, after, limit };
    return [...unfoldedCalls(database, conditions, range), ...foldedCalls(database, conditions, range)]
      .sort((a, b) => b.completedAt - a.completedAt || b.number - a.number)
      .slice(0, limit)
      .map(({ number }) => number);
  })();
}

/** Undefined if a filter names what no call has. */
function conditionsOf(
  names: NameTexts,
  { keyId: key, model, provider, status }: TracesFilter,
): Condition[] | undefined {
  const conditions: Condition[] = [];
  for (const [column, text] of Object.entries({ key, model, provider, status })) {
    if (text === undefined) continue;
    const value = names.numberOf(text);
    if (value === undefined) return undefined;
    const isIndexed = isListed(value);
    conditions.push({ column: column as Condition['column'], value, isIndexed });
  }
  return conditions;
}

const found = 'calls.number, calls.completed_at AS completedAt';
type Found = NonNullable<SearchRange['after']>;

function unfoldedCalls(database: Connection, conditions: readonly Condition[], range: SearchRange): Found[] {
  return database
    .prepare<[object], Found>(
      `SELECT ${found} FROM calls
       WHERE number > @foldedTo AND +workspace = @workspace ${matches(conditions)} ${within('calls')}`,
    )
    .all({ ...bindings(conditions, range), foldedTo: foldedTo(database) });
}

function foldedCalls(database: Connection, conditions: readonly Condition[], range: SearchRange): Found[] {
  const [only] = conditions;
  const search =
    conditions.length === 0 || (conditions.length === 1 && only?.isIndexed)
      ? { since: range.since, by: only }
      : narrowed(database, conditions, range);
  if (!search) return [];
  const kind: IndexKind = search.by?.column ?? 'all';
  return database
    .prepare<[object], Found>(
      `SELECT ${found} FROM call_index CROSS JOIN calls
       WHERE calls.number = call_index.number AND call_index.workspace = @workspace AND kind = @kind AND value = @value ${within('call_index')}
         ${matches(conditions)}
       ORDER BY call_index.completed_at DESC, call_index.number DESC LIMIT @limit`,
    )
    .all({
      ...bindings(conditions, range),
      since: search.since,
      kind: indexKinds[kind],
      value: search.by?.value ?? 0,
      limit: range.limit,
    });
}

function matches(conditions: readonly Condition[]): string {
  return conditions.map(({ column }) => `AND calls.${column} = @${column}`).join(' ');
}

function within(table: string): string {
  return `AND ${table}.completed_at >= @since AND ${table}.completed_at < @until
    AND (${table}.completed_at, ${table}.number) < (@atOfLast, @last)`;
}

function bindings(conditions: readonly Condition[], { workspace, since, until, after }: SearchRange) {
  const last = { atOfLast: after?.completedAt ?? Number.MAX_SAFE_INTEGER, last: after?.number ?? 0 };
  return { workspace, since, until, ...last, ...valuesOf(conditions) };
}

function valuesOf(conditions: readonly Condition[]): Record<string, number> {
  return Object.fromEntries(conditions.map(({ column, value }) => [column, value]));
}

/** The days that contain enough matches for the page, and the filter with the fewest calls in them. */
function narrowed(database: Connection, conditions: readonly Condition[], range: SearchRange) {
  const { workspace, since, limit } = range;
  const end = Math.min(range.until, (range.after?.completedAt ?? Number.MAX_SAFE_INTEGER - 1) + 1);
  const byKey = conditions.some(({ column }) => column === 'key');
  const matching = database
    .prepare<[object], { day: number; requests: number }>(
      `SELECT day, sum(requests) AS requests FROM ${byKey ? 'usage_key_days' : 'usage_days'} AS calls
       WHERE workspace = @workspace AND day >= @fromDay AND day < @toDay ${matches(conditions)}
       GROUP BY day ORDER BY day DESC`,
    )
    .all({
      workspace,
      fromDay: Math.floor(since / dayMs),
      toDay: Math.ceil(end / dayMs),
      ...valuesOf(conditions),
    });
  // The matches of the newest day may be on earlier pages, or after the range.
  let missing = limit;
  const last = matching.findIndex(({ requests }, index) => {
    if (index > 0) missing -= requests;
    return missing <= 0;
  });
  const [newest, oldest] = [matching[0], matching.at(last)];
  if (!newest || !oldest) return undefined;
  const days = { workspace, fromDay: oldest.day, toDay: newest.day + 1 };
  const callsOf = ({ column, value }: Condition) =>
    database
      .prepare<[object], number>(
        `SELECT coalesce(sum(requests), 0) FROM ${column === 'key' ? 'usage_key_days' : 'usage_days'}
         WHERE workspace = @workspace AND day >= @fromDay AND day < @toDay AND ${column} = @value`,
      )
      .pluck()
      .get({ ...days, value }) ?? 0;
  const [fewest] = conditions
    .filter(({ isIndexed }) => isIndexed)
    .map((by) => ({ by, calls: callsOf(by) }))
    .sort((a, b) => a.calls - b.calls);
  return { since: Math.max(since, oldest.day * dayMs), by: fewest?.by };
}
