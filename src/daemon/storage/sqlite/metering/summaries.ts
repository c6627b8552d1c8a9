import { utcDay } from '../../../../shared/time.ts';
import type { ServedDay, UsageFilter, UsageGroup } from '../../../features/metering/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { sqlName } from '../engine/row-format.ts';
import { type IndexKind, indexKinds } from './index-kinds.ts';
import { callAsSums, summedColumns, summedNames, type UsageSums } from './summed-columns.ts';
import { dayMs, foldedTo, spanDays } from './usage-totals.ts';

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
    const days = { from: range.fromDay, to: range.toDay };
    const totals = () => {
      if (groupBy === 'key' && key === null) return keyTotals(days);
      return [
        `SELECT ${groupBy === 'key' ? 'nullif(key, 0)' : groupBy} AS name, ${summedNames.join(', ')}
         FROM ${key === null ? 'usage_days' : 'usage_key_days'} AS calls
         WHERE ${where} AND day >= ${days.from} AND day < ${days.to}`,
      ];
    };
    const rows = database
      .prepare<[object], Sums>(
        `SELECT name, ${summedColumns.map((column) => `sum(${sqlName(column)}) AS ${column}`).join(', ')} FROM (
           ${[
             ...totals(),
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
        foldedTo: foldedTo(database),
        ...bounds,
      });
    return rows.map((row) => usageGroup(row, groupBy, names)).sort(byGroup);
  })();
}

interface Span {
  from: number;
  to: number;
}

/**
 * Reads of `usage_keys` that add up whole days by key, of one model if it is given: of each key a row per long span, and at most
 * half as many rows as a long span has days at each end.
 */
function keyTotals({ from, to }: Span): string[] {
  const read = (days: number, span: Span, factor: 1 | -1 = 1): string[] =>
    span.from >= span.to
      ? []
      : [
          `SELECT nullif(key, 0) AS name, ${summedNames.map((name) => `${factor === 1 ? '' : '-'}${name} AS ${name}`).join(', ')} FROM usage_keys
           WHERE workspace = @workspace AND model = coalesce(@model, 0) AND days = ${days}
             AND start >= ${span.from} AND start < ${span.to}`,
        ];
  const first = Math.round(from / spanDays) * spanDays;
  const last = Math.round(to / spanDays) * spanDays;
  if (first >= last) return read(1, { from, to });
  return [
    ...read(spanDays, { from: first, to: last }),
    ...read(1, { from, to: first }),
    ...read(1, { from: first, to: from }, -1),
    ...read(1, { from: last, to }),
    ...read(1, { from: to, to: last }, -1),
  ];
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
