import { utcDay } from '../../../../../shared/time/time.ts';
import { localDay } from '../../../../../shared/time/time-zones.ts';
import type { SeriesFilter, UsageFilter, UsageGrouping } from '../../../../features/metering/store.ts';
import type { Connection } from '../../engine/connection.ts';

/** Counts of rejected calls without a record are kept by quarters of an hour. */
export const rejectionSlotMs = 15 * 60_000;

/** Records of rejected calls that match conditions, which name its columns; `calls` is how many it stands for. */
const recorded = (condition: string) =>
  `SELECT completed_at, error_code, model, key_id, client, end_user, conversation, endpoint, tags, 1 + more AS calls
   FROM rejections
   WHERE workspace_id IN (SELECT value FROM json_each(@workspaceIds)) AND ${condition}`;

/** The counts of those whose records were removed; their users, conversations, endpoints and tags are no longer known. */
const removed = (condition: string) =>
  `SELECT * FROM (SELECT slot * ${rejectionSlotMs} AS completed_at, error_code, nullif(model, '') AS model,
       nullif(key_id, '') AS key_id, nullif(client, '') AS client, CAST(NULL AS TEXT) AS end_user,
       CAST(NULL AS TEXT) AS conversation, CAST(NULL AS TEXT) AS endpoint, CAST(NULL AS TEXT) AS tags, calls
     FROM rejection_totals
     WHERE workspace_id IN (SELECT value FROM json_each(@workspaceIds))
       AND slot >= @fromSlot AND slot <= @toSlot) AS totals
   WHERE ${condition}`;

/**
 * A table of rejected calls: `completed_at, error_code, model, key_id, client, end_user, conversation, endpoint, tags, calls`. Its
 * parameters are `workspaceIds` as JSON, in which an empty text stands for unknown callers, and those of `slotBounds`. With `isRecorded`, it
 * has only those with a record.
 */
export function rejectedTable(condition: string, { isRecorded = false } = {}): string {
  return isRecorded
    ? `(${recorded(condition)}) AS rejected`
    : `(${recorded(condition)} UNION ALL ${removed(condition)}) AS rejected`;
}

/** The parameters of `rejectedTable` that follow from a range of time. */
export function slotBounds({ since, until }: { since: number; until: number }) {
  return { fromSlot: Math.floor(since / rejectionSlotMs), toSlot: Math.floor(until / rejectionSlotMs) };
}

interface RejectedFilter {
  workspaceId: string;
  /** Whether calls of unknown callers count, too. */
  unknownCallers?: boolean | undefined;
  keyId?: string | undefined;
  model?: string | undefined;
  since: number;
  until: number;
}

type Column = Exclude<UsageGrouping, 'day' | 'provider' | 'status'>;

/** So many rejected calls of a quarter of an hour. */
interface RejectedRow {
  slot: number;
  /** In the order of the groups. */
  names: (string | null)[];
  calls: number;
}

const columns: Record<Column, string> = {
  model: 'model',
  key: 'key_id',
  client: 'client',
  user: 'end_user',
  tag: "nullif(json_each.value, '')",
  error: 'error_code',
};

/**
 * Counts rejected calls by quarters of an hour and by groups. Providers have none, and all have the status `rejected`. Of tags,
 * calls count for each of theirs, or for none.
 */
export function rejectedCalls(
  database: Connection,
  { workspaceId, unknownCallers = false, keyId, model, since, until }: RejectedFilter,
  groups: readonly UsageGrouping[],
): RejectedRow[] {
  const isColumn = (group: UsageGrouping): group is Column => group in columns;
  const named = groups.filter(isColumn);
  const condition = [
    'completed_at >= @since AND completed_at < @until',
    ...(keyId === undefined ? [] : ['key_id = @keyId']),
    ...(model === undefined ? [] : ['model = @model']),
  ].join(' AND ');
  const rows = database
    .prepare<[object], Record<string, string | number | null>>(
      `SELECT completed_at / ${rejectionSlotMs} AS slot, sum(calls) AS calls
         ${named.map((group, index) => `, ${columns[group]} AS group${index}`).join('')}
       FROM ${rejectedTable(condition)} ${named.includes('tag') ? `CROSS JOIN json_each(coalesce(rejected.tags, '[""]'))` : ''}
       GROUP BY 1${named.map((_, index) => `, ${index + 3}`).join('')}`,
    )
    .all({
      workspaceIds: JSON.stringify(unknownCallers ? [workspaceId, ''] : [workspaceId]),
      since,
      until,
      ...slotBounds({ since, until }),
      keyId: keyId ?? null,
      model: model ?? null,
    });
  return rows.map((row) => ({
    slot: Number(row.slot),
    calls: Number(row.calls),
    names: groups.map((group) => {
      if (group === 'status') return 'rejected';
      return isColumn(group) ? ((row[`group${named.indexOf(group)}`] ?? null) as string | null) : null;
    }),
  }));
}

/** How many calls of each group were rejected. */
export function rejectedGroups(
  database: Connection,
  filter: UsageFilter,
): { groups: (string | null)[]; rejected: number }[] {
  const { groupBy, timeZone } = filter;
  const dayOf = (at: number) => (timeZone === 'UTC' ? utcDay(at) : localDay(at, timeZone));
  const found = new Map<string, { groups: (string | null)[]; rejected: number }>();
  for (const { slot, names, calls } of rejectedCalls(database, filter, groupBy)) {
    const groups = names.map((name, at) =>
      groupBy[at] === 'day' ? dayOf(Math.max(slot * rejectionSlotMs, filter.since)) : name,
    );
    const id = JSON.stringify(groups);
    const group = found.get(id);
    if (group) group.rejected += calls;
    else found.set(id, { groups, rejected: calls });
  }
  return [...found.values()];
}

/** How many calls of each group were rejected in each bucket. */
export function rejectedSeries(
  database: Connection,
  { buckets, groupBy, provider, status, ...filter }: SeriesFilter,
): Map<string | null, number[]> {
  const found = new Map<string | null, number[]>();
  if (provider !== undefined || (status !== undefined && status !== 'rejected')) return found;
  const [since, until] = [buckets[0]?.start ?? 0, buckets.at(-1)?.end ?? 0];
  const rows = rejectedCalls(database, { ...filter, since, until }, groupBy ? [groupBy] : []);
  for (const { slot, names, calls } of rows) {
    const name = names[0] ?? null;
    const counts = found.get(name) ?? buckets.map(() => 0);
    found.set(name, counts);
    const at = Math.max(slot * rejectionSlotMs, since);
    const bucket = buckets.findLastIndex(({ start }) => start <= at);
    counts[bucket] = (counts[bucket] ?? 0) + calls;
  }
  return found;
}
