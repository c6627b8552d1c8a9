import { utcDay } from '../../../../../shared/time/time.ts';
import { bucketsOf, localDay } from '../../../../../shared/time/time-zones.ts';
import type {
  Series,
  SeriesFilter,
  SeriesPoint,
  ServedDay,
  UsageFilter,
  UsageGroup,
} from '../../../../features/metering/store.ts';
import type { Connection } from '../../engine/connection.ts';
import { fixedNames, type NameTexts } from '../../engine/names.ts';
import { rejectedSeries } from './rejected-calls.ts';
import { type SumFilter, type SumGroup, type SumRow, UsageSummer } from './sum-usage.ts';
import { summedColumns, untagged } from './summed-columns.ts';
import { dayMs } from './usage-totals.ts';

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

/** More than any database has. */
const daysMax = 100_000;
/** The labels of which a call has at most one. */
const singleLabels: readonly SumGroup[] = ['client', 'user', 'error'];
/** What the labels beyond the most of a day count as. */
const otherLabels = 'other';

/** Adds up calls by one or two groups. */
export function summarizeUsage(database: Connection, names: NameTexts, filter: UsageFilter): UsageGroup[] {
  return database.transaction(() => usageGroups(database, names, filter))();
}

/** The same within a transaction, also of one provider or status, of which there may be few calls, or of several keys. */
export function usageGroups(
  database: Connection,
  names: NameTexts,
  filter: UsageFilter & Filter & { isOneByOne?: boolean },
): UsageGroup[] {
  const numbers = numbersOf(names, filter);
  if (!numbers) return [];
  const { groupBy } = filter;
  const found = sumsBy(database, numbers, filter);
  const label = groupBy.find((group) => singleLabels.includes(group));
  const labelled = label ? found.filter(({ names: of }) => of[groupBy.indexOf(label)] !== null) : found;
  const rest = label ? withoutLabel(database, numbers, { filter, label, labelled }) : [];
  return [...labelled, ...rest]
    .map((row) =>
      usageGroup(
        row,
        row.names.map((name, index) => textOf(names, groupBy[index], name)),
      ),
    )
    .sort(byGroups);
}

/** The sums by group; a day is the time at which it begins. */
function sumsBy(
  database: Connection,
  numbers: SumFilter,
  {
    groupBy,
    since,
    until,
    timeZone,
    isOneByOne = false,
  }: Pick<UsageFilter, 'groupBy' | 'since' | 'until' | 'timeZone'> & { isOneByOne?: boolean },
): SumRow[] {
  const dayAt = groupBy.indexOf('day');
  if (dayAt < 0 || timeZone === 'UTC') {
    const rows = new UsageSummer(database, numbers, groupBy, { isOneByOne }).sum(since, until);
    const asTime = (name: number | null, index: number) => (index === dayAt ? (name ?? 0) * dayMs : name);
    return rows.map((row) => ({ ...row, names: row.names.map(asTime) }));
  }
  const summer = new UsageSummer(
    database,
    numbers,
    groupBy.filter((group) => group !== 'day'),
  );
  const { from, to } = summer.extent;
  const range = { since: Math.max(since, from), until: Math.min(until, to) };
  if (range.since >= range.until) return [];
  const days = bucketsOf(range, { bucket: 'day', timeZone, most: daysMax }) ?? [];
  const clipped = days.map(({ start, end }) => ({
    start: Math.max(start, range.since),
    end: Math.min(end, range.until),
  }));
  return summer.sumEach(clipped).flatMap((rows, index) =>
    rows.map((row) => ({
      ...row,
      names: row.names.toSpliced(dayAt, 0, localStart(days[index]?.start ?? 0, timeZone)),
    })),
  );
}

/** The local day of a time, as the time at which it begins in UTC. */
function localStart(start: number, timeZone: string): number {
  return Date.parse(localDay(start, timeZone));
}

/** What all calls add up to, without those that have a label. */
function withoutLabel(
  database: Connection,
  numbers: SumFilter,
  { filter, label, labelled }: { filter: UsageFilter; label: SumGroup; labelled: SumRow[] },
): SumRow[] {
  const at = filter.groupBy.indexOf(label);
  const others = (names: SumRow['names']) => names.toSpliced(at, 1).join();
  const rest = sumsBy(database, numbers, {
    ...filter,
    groupBy: filter.groupBy.filter((group) => group !== label),
  });
  return rest.flatMap((row) => {
    const sum = { ...row, names: row.names.toSpliced(at, 0, null) };
    for (const each of labelled) {
      if (others(each.names) !== row.names.join()) continue;
      for (const column of summedColumns) sum[column] -= each[column];
    }
    return sum.requests > 0 ? [sum] : [];
  });
}

function textOf(names: NameTexts, group: SumGroup | undefined, name: number | null): string | null {
  if (name === null || name === untagged) return null;
  if (group === 'day') return utcDay(name);
  return name === 0 ? otherLabels : names.of(name);
}

type Filter = Pick<UsageFilter, 'workspaceId' | 'keyId' | 'model'> &
  Partial<Pick<SeriesFilter, 'provider' | 'status'>> & { keyIds?: readonly string[] };

/** Undefined if a filter names what no call has. */
function numbersOf(
  names: NameTexts,
  { workspaceId, keyId, keyIds = keyId === undefined ? undefined : [keyId], model, provider, status }: Filter,
): SumFilter | undefined {
  const workspace = names.numberOf(workspaceId);
  const keys = keyIds?.flatMap((id) => names.numberOf(id) ?? []) ?? null;
  const others = [model, provider, status].map((text) => (text === undefined ? null : names.numberOf(text)));
  const [modelNumber, providerNumber, statusNumber] = others;
  if (workspace === undefined || modelNumber === undefined) return undefined;
  if (providerNumber === undefined || statusNumber === undefined) return undefined;
  return {
    workspace,
    keys,
    model: modelNumber,
    provider: providerNumber,
    status: statusNumber,
  };
}

function usageGroup(row: SumRow, groups: UsageGroup['groups']): UsageGroup {
  const { names: _names, ...sums } = row;
  return { groups, rejected: 0, ...amountsOf(sums) };
}

function amountsOf({
  requests,
  unpriced,
  costProvider,
  costMargin,
  charged,
  ...tokens
}: Omit<SumRow, 'names'>) {
  const cost = { provider: costProvider, margin: costMargin, total: costProvider + costMargin };
  return { requests, unpriced, tokens, cost, charged };
}

/** Ascending, null last. */
export function byGroups(
  { groups: one }: Pick<UsageGroup, 'groups'>,
  { groups: other }: Pick<UsageGroup, 'groups'>,
): number {
  for (const [index, a] of one.entries()) {
    const b = other[index] ?? null;
    if (a === b) continue;
    return b === null || (a !== null && a < b) ? -1 : 1;
  }
  return 0;
}

/** The calls of each bucket, by group. */
export function readSeries(database: Connection, names: NameTexts, filter: SeriesFilter): Series[] {
  return database.transaction(() => {
    const rejected = rejectedSeries(database, filter);
    const numbers = filter.status === 'rejected' ? undefined : numbersOf(names, filter);
    const { groupBy, top } = filter;
    if (numbers && groupBy === 'key' && numbers.keys === null) {
      const shown = keySeries(database, names, { filter, numbers });
      return withRejectedKeys(shown, rejected, filter);
    }
    const all = numbers ? finishedSeries(database, names, { filter, numbers }) : [];
    for (const [group, counts] of rejected) addRejected(seriesIn(all, group, counts.length), counts);
    const sizeOf = groupBy === 'error' ? callsOf : costOf;
    all.sort((a, b) => sizeOf(b) - sizeOf(a) || callsOf(b) - callsOf(a));
    const [shown, rest] = [all.slice(0, top), all.slice(top)];
    if (rest.length === 0) return shown;
    return [...shown, otherSeries(filter.buckets.length, rest)];
  })();
}

function finishedSeries(
  database: Connection,
  names: NameTexts,
  { filter: { buckets, groupBy }, numbers }: { filter: SeriesFilter; numbers: SumFilter },
): Series[] {
  const isByError = groupBy === 'error';
  const summer = new UsageSummer(database, numbers, seriesGroups(groupBy));
  const series = new Map<number | null, SeriesPoint[]>();
  for (const [index, rows] of summer.sumEach(buckets).entries()) {
    for (const row of rows) {
      const name = groupBy ? (row.names[0] ?? null) : null;
      if (isByError && name === null) continue;
      let points = series.get(name);
      if (!points) {
        points = buckets.map(() => noCalls());
        series.set(name, points);
      }
      addTo(points[index], row);
    }
  }
  if (isByError)
    for (const points of series.values()) for (const point of points) point.errors = point.requests;
  return [...series].map(([name, points]) => ({
    group: textOf(names, groupBy, name),
    isOther: false,
    points,
  }));
}

/** The series of a group, which is added if there is none. */
function seriesIn(all: Series[], group: string | null, length: number): Series {
  const known = all.find((series) => !series.isOther && series.group === group);
  if (known) return known;
  const points = Array.from({ length }, () => noCalls());
  const series = { group, isOther: false, points };
  all.push(series);
  return series;
}

function addRejected({ points }: Series, counts: readonly number[]): void {
  for (const [index, point] of points.entries()) point.rejected += counts[index] ?? 0;
}

/** Keys that were only rejected come after the dearest ones, or count as others. */
function withRejectedKeys(
  all: readonly Series[],
  rejected: ReadonlyMap<string | null, number[]>,
  { buckets, top }: SeriesFilter,
): Series[] {
  const shown = all.filter(({ isOther }) => !isOther);
  const rest = all.find(({ isOther }) => isOther) ?? otherSeries(buckets.length, []);
  const total = (counts: readonly number[]) => counts.reduce((sum, calls) => sum + calls, 0);
  for (const [key, counts] of [...rejected].sort(([, a], [, b]) => total(b) - total(a))) {
    const isShown = key !== null && (shown.length < top || shown.some(({ group }) => group === key));
    addRejected(isShown ? seriesIn(shown, key, counts.length) : rest, counts);
  }
  return callsOf(rest) === 0 ? shown : [...shown, rest];
}

/** There can be too many keys for a series each: the dearest are found by their days, and the rest is what remains of all. */
function keySeries(
  database: Connection,
  names: NameTexts,
  { filter, numbers }: { filter: SeriesFilter; numbers: SumFilter },
): Series[] {
  const { buckets, top } = filter;
  const [since, until] = [buckets[0]?.start ?? 0, buckets.at(-1)?.end ?? 0];
  const cost = ({ costProvider, costMargin }: SumRow) => costProvider + costMargin;
  const whole = { since: Math.floor(since / dayMs) * dayMs, until: Math.ceil(until / dayMs) * dayMs };
  const dearest = new UsageSummer(database, numbers, ['key'], {
    columns: ['costProvider', 'costMargin', 'requests'],
  })
    .sum(whole.since, whole.until)
    .filter(({ names: [key] }) => key !== null)
    .sort((a, b) => cost(b) - cost(a) || b.requests - a.requests)
    .slice(0, top);
  const keys = dearest.map(({ names: [key = null] }) => key ?? 0);
  const shown = keys.map((key) => ({
    group: names.ofNullable(key),
    isOther: false,
    points: buckets.map(() => noCalls()),
  }));
  const ofKeys = new UsageSummer(database, { ...numbers, keys }, ['key', 'status']).sumEach(buckets);
  for (const [index, rows] of ofKeys.entries())
    for (const row of rows) addTo(shown[keys.indexOf(row.names[0] ?? 0)]?.points[index], row);
  const rest = buckets.map(() => noCalls());
  const all = new UsageSummer(database, numbers, ['status']).sumEach(buckets);
  for (const [index, rows] of all.entries()) for (const row of rows) addTo(rest[index], row);
  for (const { points } of shown)
    for (const [index, point] of points.entries()) addTo(rest[index], point, -1);
  if (rest.every(({ requests }) => requests === 0)) return shown;
  return [...shown, { group: null, isOther: true, points: rest }];
}

function otherSeries(length: number, rest: readonly Series[]): Series {
  const points = Array.from({ length }, () => noCalls());
  for (const each of rest) for (const [index, point] of each.points.entries()) addTo(points[index], point);
  return { group: null, isOther: true, points };
}

const noTokens = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };

function noCalls(): SeriesPoint {
  const cost = { provider: 0, margin: 0, total: 0 };
  return { requests: 0, rejected: 0, errors: 0, unpriced: 0, tokens: { ...noTokens }, cost, charged: 0 };
}

const failing: readonly number[] = [fixedNames.failed, fixedNames.interrupted];

/** Adds the calls of a status, or of another point. */
function addTo(point: SeriesPoint | undefined, added: SumRow | SeriesPoint, factor: 1 | -1 = 1): void {
  if (!point) return;
  const isPoint = 'errors' in added;
  const { requests, unpriced, tokens, cost, charged } = isPoint ? added : amountsOf(added);
  const errors = isPoint ? added.errors : failing.includes(added.names.at(-1) ?? 0) ? requests : 0;
  point.requests += factor * requests;
  if (isPoint) point.rejected += factor * added.rejected;
  point.errors += factor * errors;
  point.unpriced += factor * unpriced;
  point.charged += factor * charged;
  for (const part of ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] as const)
    point.tokens[part] += factor * tokens[part];
  for (const part of ['provider', 'margin', 'total'] as const) point.cost[part] += factor * cost[part];
}

/** There are no totals of labels by status. */
function seriesGroups(groupBy: SeriesFilter['groupBy']): SumGroup[] {
  if (groupBy === undefined) return ['status'];
  return groupBy === 'error' ? ['error'] : [groupBy, 'status'];
}

function callsOf({ points }: Series): number {
  return points.reduce((sum, { requests, rejected }) => sum + requests + rejected, 0);
}

function costOf({ points }: Series): number {
  return points.reduce((sum, { cost }) => sum + cost.total, 0);
}
