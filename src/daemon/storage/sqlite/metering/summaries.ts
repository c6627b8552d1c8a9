import { utcDay } from '../../../../shared/time.ts';
import type { ServedDay, UsageFilter, UsageGroup } from '../../../features/metering/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { sqlName } from '../engine/row-format.ts';
import {
  callAsSums,
  dayMs,
  foldedTo,
  type IndexKind,
  indexKinds,
  summedColumns,
  summedNames,
  type UsageSums,
} from './fold-calls.ts';

export function servedDays(database: Connection): ServedDay[] {
  type Row = Omit<ServedDay, 'ownKey'> & { ownKey: number };
  return database
    .prepare<[], Row>(
      `SELECT day, caller, own_key AS ownKey, tier, requests, input_tokens AS inputTokens,
         output_tokens AS outputTokens
       FROM served_days ORDER BY day, caller, own_key, tier`,
    )
    .all()
    .map((row) => ({ ...row, ownKey: row.ownKey === 1 }));
}

interface Sums extends UsageSums {
  /** A day, or the number of a name. */
  name: number | null;
}

/**
 * Sums up whole days from the daily totals, the parts of days at the ends of the range from their calls, and the calls that
 * are not folded yet.
 */
export function summarizeUsage(database: Connection, names: NameTexts, filter: UsageFilter): UsageGroup[] {
  return database.transaction(() => {
    const { workspaceId, keyId, model: modelName, groupBy, since, until } = filter;
    const workspace = names.numberOf(workspaceId);
    const key = keyId === undefined ? null : names.numberOf(keyId);
    const model = modelName === undefined ? null : names.numberOf(modelName);
    if (workspace === undefined || key === undefined || model === undefined) return [];
    const range = splitRange(database, { workspace, since, until });
    const kind: IndexKind = key !== null ? 'key' : model !== null ? 'model' : 'all';
    const where = `calls.workspace = @workspace ${key === null ? '' : 'AND key = @key'} ${model === null ? '' : 'AND model = @model'}`;
    const nameOfCall = groupBy === 'day' ? `calls.completed_at / ${dayMs}` : groupBy;
    const bounds: Record<string, number> = {};
    const parts = range.parts.map((part, index) => {
      bounds[`since${index}`] = part.since;
      bounds[`until${index}`] = part.until;
      return `SELECT ${nameOfCall} AS name, ${callAsSums(part.factor)}
        FROM call_index CROSS JOIN calls USING (number)
        WHERE call_index.workspace = @workspace AND kind = @kind AND value = @value
          AND call_index.completed_at >= @since${index} AND call_index.completed_at < @until${index} AND ${where}`;
    });
    const table = key !== null || groupBy === 'key' ? 'usage_key_days' : 'usage_days';
    const rows = database
      .prepare<[object], Sums>(
        `SELECT name, ${summedColumns.map((column) => `sum(${sqlName(column)}) AS ${column}`).join(', ')} FROM (
           ${[
             `SELECT ${groupBy === 'key' ? 'nullif(key, 0)' : groupBy} AS name, ${summedNames.join(', ')}
              FROM ${table} AS calls WHERE ${where} AND day >= @fromDay AND day < @toDay`,
             ...parts,
             `SELECT ${nameOfCall} AS name, ${callAsSums(1)} FROM calls
              WHERE number > @foldedTo AND ${where.replace('calls.workspace', '+calls.workspace')}
                AND completed_at >= @since AND completed_at < @until`,
           ].join(' UNION ALL ')}
         ) GROUP BY name HAVING sum(requests) > 0`,
      )
      .all({
        workspace,
        key,
        model,
        kind: indexKinds[kind],
        value: key ?? model ?? 0,
        since,
        until,
        fromDay: range.fromDay,
        toDay: range.toDay,
        foldedTo: foldedTo(database),
        ...bounds,
      });
    return rows.map((row) => usageGroup(row, groupBy, names)).sort(byGroup);
  })();
}

/** Calls to add to the totals of whole days, or to take away from them. */
interface RangePart {
  factor: 1 | -1;
  since: number;
  until: number;
}

/** Splits a range into whole days (from `fromDay`, before `toDay`) and the parts of days at its ends. */
function splitRange(database: Connection, filter: { workspace: number; since: number; until: number }) {
  const bound = (order: 'ASC' | 'DESC') =>
    database
      .prepare<[number], number>(
        `SELECT completed_at FROM call_index WHERE workspace = ? AND kind = ${indexKinds.all} AND value = 0
         ORDER BY completed_at ${order} LIMIT 1`,
      )
      .pluck()
      .get(filter.workspace) ?? 0;
  const [oldest, newest] = [bound('ASC'), bound('DESC')];
  // A bound beyond all calls cuts no day.
  const since = filter.since <= oldest ? Math.floor(oldest / dayMs) * dayMs : filter.since;
  const until = filter.until > newest ? (Math.floor(newest / dayMs) + 1) * dayMs : filter.until;
  if (since >= until) return { fromDay: 0, toDay: 0, parts: [] };
  const [fromDay, toDay] = [Math.ceil(since / dayMs), Math.floor(until / dayMs)];
  if (fromDay > toDay) return { fromDay: 0, toDay: 0, parts: [{ factor: 1, since, until } as RangePart] };
  const first = cutDay({ from: since, to: fromDay * dayMs }, { from: (fromDay - 1) * dayMs, to: since });
  const last = cutDay({ from: toDay * dayMs, to: until }, { from: until, to: (toDay + 1) * dayMs });
  return {
    fromDay: first.isWhole ? fromDay - 1 : fromDay,
    toDay: last.isWhole ? toDay + 1 : toDay,
    parts: [...first.parts, ...last.parts],
  };
}

interface Span {
  from: number;
  to: number;
}

/** Reads the shorter part of a day: what is inside the range, or what is outside and taken from the whole. */
function cutDay(inside: Span, outside: Span): { isWhole: boolean; parts: RangePart[] } {
  if (inside.from === inside.to) return { isWhole: false, parts: [] };
  const isWhole = outside.to - outside.from < inside.to - inside.from;
  const { from, to } = isWhole ? outside : inside;
  return { isWhole, parts: [{ factor: isWhole ? -1 : 1, since: from, until: to }] };
}

function usageGroup(row: Sums, groupBy: UsageFilter['groupBy'], names: NameTexts): UsageGroup {
  const { name, requests, unpriced, costProvider: provider, costMargin: margin, charged, ...tokens } = row;
  return {
    group: groupBy === 'day' ? utcDay((name ?? 0) * dayMs) : names.ofNullable(name),
    requests,
    unpriced,
    tokens,
    cost: { provider, margin, total: provider + margin },
    charged,
  };
}

/** Ascending, null last. */
function byGroup({ group: a }: UsageGroup, { group: b }: UsageGroup): number {
  if (a === b) return 0;
  return b === null || (a !== null && a < b) ? -1 : 1;
}
