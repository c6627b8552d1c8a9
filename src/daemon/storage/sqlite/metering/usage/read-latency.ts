import type { LatencyFilter, LatencyGroup, LatencyHistogram } from '../../../../features/metering/store.ts';
import type { Connection } from '../../engine/connection.ts';
import type { NameTexts } from '../../engine/names.ts';
import { hourMs, type LatencyMetric, latenciesOf, latencyMetrics } from './slot-totals.ts';
import { dayMs, foldedTo } from './usage-totals.ts';

/** Longer ranges are read from the histograms of UTC days. */
const hoursMax = 8 * 24;

interface Row {
  bucket: number;
  metric: number;
  name: number | null;
  step: number;
  calls: number;
}

const metricNames = Object.fromEntries(
  Object.entries(latencyMetrics).map(([name, number]) => [number, name as LatencyMetric]),
);

/**
 * How many calls had which latency, in each bucket of time. The times are rounded to hours, beyond eight days to UTC days, so
 * that a percentile of a long range is read from a few thousand rows; the end is rounded up, so that the running hour counts.
 */
export function readLatency(database: Connection, names: NameTexts, filter: LatencyFilter): LatencyGroup[] {
  return database.transaction(() => {
    const numbers = numbersOf(names, filter);
    if (!numbers) return [];
    const { buckets, groupBy } = filter;
    const length = (buckets.at(-1)?.end ?? 0) - (buckets[0]?.start ?? 0);
    const time = length > hoursMax * hourMs ? { column: 'day', ms: dayMs } : { column: 'hour', ms: hourMs };
    const name = groupBy === 'provider' ? 'nullif(provider, 0)' : (groupBy ?? 'NULL');
    const where = ['workspace', 'model', 'provider']
      .filter((column) => numbers[column as keyof typeof numbers] !== null)
      .map((column) => `${column} = @${column}`)
      .join(' AND ');
    const read = database.prepare<[object], Omit<Row, 'bucket'>>(
      `SELECT metric, ${name} AS name, bucket AS step, sum(calls) AS calls FROM latency_${time.column}s
       WHERE ${where} AND ${time.column} >= @from AND ${time.column} < @to GROUP BY 1, 2, 3`,
    );
    const bounds = buckets.map(({ start, end }, index) => {
      const isLast = index === buckets.length - 1;
      return { from: Math.round(start / time.ms), to: (isLast ? Math.ceil : Math.round)(end / time.ms) };
    });
    const rows: Row[] = bounds.flatMap((range, bucket) =>
      read.all({ ...numbers, ...range }).map((row) => ({ ...row, bucket })),
    );
    const unfolded = database
      .prepare<[object], Row>(
        `SELECT ${name} AS name, metric, bucket AS step, hour AS bucket, count(*) AS calls
         FROM (${latenciesOf('number > @foldedTo AND +workspace = @workspace')}) AS latencies
         WHERE ${where} GROUP BY 1, 2, 3, 4`,
      )
      .all({ ...numbers, foldedTo: foldedTo(database) });
    for (const { bucket: hour, ...row } of unfolded) {
      const at = Math.floor((hour * hourMs) / time.ms);
      const bucket = bounds.findIndex(({ from, to }) => at >= from && at < to);
      if (bucket >= 0) rows.push({ ...row, bucket });
    }
    return groupsOf(rows, buckets.length, names);
  })();
}

function numbersOf(names: NameTexts, { workspaceId, model, provider }: LatencyFilter) {
  const workspace = names.numberOf(workspaceId);
  const numberOf = (text: string | undefined) => (text === undefined ? null : names.numberOf(text));
  const [modelNumber, providerNumber] = [numberOf(model), numberOf(provider)];
  if (workspace === undefined || modelNumber === undefined || providerNumber === undefined) return undefined;
  return { workspace, model: modelNumber, provider: providerNumber };
}

function groupsOf(rows: readonly Row[], length: number, names: NameTexts): LatencyGroup[] {
  const groups = new Map<number | null, LatencyGroup>();
  for (const { bucket, metric, name, step, calls } of rows) {
    let group = groups.get(name);
    if (!group) {
      const empty = (): LatencyHistogram[] => Array.from({ length }, () => new Map());
      group = {
        group: names.ofNullable(name),
        firstToken: empty(),
        total: empty(),
        tokensPerSecond: empty(),
        overhead: empty(),
      };
      groups.set(name, group);
    }
    const histogram = group[metricNames[metric] ?? 'total'][bucket];
    histogram?.set(step, (histogram.get(step) ?? 0) + calls);
  }
  return [...groups.values()];
}
