import type { Connection } from '../engine/connection.ts';
import { readMeta } from '../engine/meta.ts';
import { indexKinds } from './index-kinds.ts';
import { asTerms, callSumTerms, summedNames } from './summed-columns.ts';

/** Offsets of time zones are multiples of this, so sums of slots are exact in all of them. */
export const slotMs = 15 * 60_000;
export const hourMs = 3_600_000;
/** The latency by hour is kept for so many hours; by day, for ever. */
export const latencyHoursKept = 90 * 24;

/** Labels of a kind that a workspace may have on a day; others are added up as value 0, so that no day takes long to read. */
const labelsOfDayMax = 10_000;

/** The time from which on slots, labels and latencies have all calls; older calls are only in the daily totals. */
export function totalsFrom(database: Connection): number {
  return readMeta(database, 'totals_from') ?? 0;
}

/** What the histograms of latency count. */
export const latencyMetrics = { firstToken: 0, total: 1, tokensPerSecond: 2, overhead: 3 } as const;
export type LatencyMetric = keyof typeof latencyMetrics;

/** Buckets are a quarter of a power of two wide: a percentile is off by at most a tenth. */
export const bucketsPerDoubling = 4;
const bucketOf = (value: string) =>
  `CAST(floor(${bucketsPerDoubling} * log2(max(${value}, 0.1))) AS INTEGER)`;

const isAnswered = 'status IN (1, 2)';

/** How each metric is computed from a row of `calls`, and of which calls. */
const measured: Record<LatencyMetric, { value: string; where: string }> = {
  firstToken: { value: 'ttft_ms', where: 'ttft_ms IS NOT NULL' },
  total: { value: 'total_ms', where: isAnswered },
  tokensPerSecond: {
    value: '1000.0 * output / (total_ms - ttft_ms)',
    where: `${isAnswered} AND output > 0 AND total_ms > ttft_ms`,
  },
  // Until the first provider was asked.
  overhead: { value: "(details ->> '$[0][2][0]')", where: "details ->> '$[0][2][0]' IS NOT NULL" },
};

/** Selects a row per metric of the calls in a range: `workspace, hour, model, provider, metric, bucket`. */
export function latenciesOf(calls: string): string {
  return Object.entries(measured)
    .map(
      ([metric, { value, where }]) =>
        `SELECT workspace, completed_at / ${hourMs} AS hour, model, coalesce(provider, 0) AS provider,
           ${latencyMetrics[metric as LatencyMetric]} AS metric, ${bucketOf(value)} AS bucket
         FROM calls WHERE ${calls} AND ${where}`,
    )
    .join(' UNION ALL ');
}

/** The labels whose calls are added up per day. */
export const labelKinds = { client: indexKinds.client, user: indexKinds.user, tag: indexKinds.tag } as const;

/** Selects a row per label of the calls in a range: `kind, value` and the columns of the call. */
export function labelledCalls(calls: string): string {
  const withLabel = (kind: number, value: string, from = 'calls') =>
    `SELECT ${kind} AS kind, ${value} AS value, calls.* FROM ${from} WHERE ${calls} AND ${value} IS NOT NULL`;
  return [
    withLabel(labelKinds.client, 'client'),
    withLabel(labelKinds.user, 'end_user'),
    withLabel(labelKinds.tag, 'json_each.value', 'calls CROSS JOIN json_each(calls.tags)'),
  ].join(' UNION ALL ');
}

const range = `number > @after AND number <= @last AND completed_at >= @totalsFrom`;
const names = summedNames.join(', ');
const adds = summedNames.map((name) => `sum(${name})`).join(', ');
const adding = summedNames.map((name) => `${name} = ${name} + excluded.${name}`).join(', ');

/** The groups of `usage_label_days`, computed from a row of `labelledCalls`. */
export const labelGroups = {
  workspace: 'workspace',
  kind: 'kind',
  day: 'completed_at / 86400000',
  value: 'value',
};

/** What is folded into them, apart from `folding`. */
export const slotTables = [
  'CREATE TEMP TABLE IF NOT EXISTS folding_latency (workspace, hour, model, provider, metric, bucket, calls)',
  `CREATE TEMP TABLE IF NOT EXISTS folding_labels (workspace, kind, day, value, ${names})`,
];

/** Adds the calls of a fold. `folding` has their totals by slot, from `totals_from` on as `is_slotted`. */
export const slotStatements = [
  `INSERT INTO usage_slots (workspace, slot, model, provider, status, ${names})
   SELECT workspace, slot, model, provider, status, ${adds} FROM folding WHERE slot >= @fromSlot GROUP BY 1, 2, 3, 4, 5
   ON CONFLICT DO UPDATE SET ${adding}`,
  `INSERT INTO usage_key_slots (workspace, key, slot, status, ${names})
   SELECT workspace, key, slot, status, ${adds} FROM folding WHERE slot >= @fromSlot GROUP BY 1, 2, 3, 4
   ON CONFLICT DO UPDATE SET ${adding}`,
  `INSERT INTO folding_latency (workspace, hour, model, provider, metric, bucket, calls)
   SELECT workspace, hour, model, provider, metric, bucket, count(*) FROM (${latenciesOf(range)})
   GROUP BY 1, 2, 3, 4, 5, 6`,
  `INSERT INTO latency_hours (workspace, hour, model, provider, metric, bucket, calls)
   SELECT workspace, hour, model, provider, metric, bucket, calls FROM folding_latency WHERE TRUE
   ON CONFLICT DO UPDATE SET calls = calls + excluded.calls`,
  `INSERT INTO latency_days (workspace, day, model, provider, metric, bucket, calls)
   SELECT workspace, hour / 24, model, provider, metric, bucket, sum(calls) FROM folding_latency WHERE TRUE
   GROUP BY 1, 2, 3, 4, 5, 6
   ON CONFLICT DO UPDATE SET calls = calls + excluded.calls`,
  `DELETE FROM latency_hours WHERE workspace IN (SELECT workspace FROM folding_latency)
     AND hour < (SELECT max(hour) FROM folding_latency) - ${latencyHoursKept}`,
  'DELETE FROM folding_latency',
  `INSERT INTO folding_labels (workspace, kind, day, value, ${names})
   SELECT ${asTerms(labelGroups)}, ${callSumTerms} FROM (${labelledCalls(range)}) GROUP BY 1, 2, 3, 4`,
  `UPDATE folding_labels SET value = 0
   WHERE NOT EXISTS (SELECT 1 FROM usage_label_days AS known
       WHERE known.workspace = folding_labels.workspace AND known.kind = folding_labels.kind
         AND known.day = folding_labels.day AND known.value = folding_labels.value)
     AND (workspace, kind, day) IN (
       SELECT workspace, kind, day FROM (SELECT DISTINCT workspace, kind, day FROM folding_labels) AS days
       WHERE (SELECT count(*) FROM (SELECT 1 FROM usage_label_days AS known
           WHERE known.workspace = days.workspace AND known.kind = days.kind AND known.day = days.day
           LIMIT ${labelsOfDayMax})) = ${labelsOfDayMax})`,
  `INSERT INTO usage_label_days (workspace, kind, day, value, ${names})
   SELECT workspace, kind, day, value, ${adds} FROM folding_labels WHERE TRUE GROUP BY 1, 2, 3, 4
   ON CONFLICT DO UPDATE SET ${adding}`,
  'DELETE FROM folding_labels',
];
