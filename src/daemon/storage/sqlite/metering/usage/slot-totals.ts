import type { Connection } from '../../engine/connection.ts';
import { readMeta } from '../../engine/meta.ts';
import { adding } from '../../engine/row-format.ts';
import { everyRow } from './fingerprint.ts';
import { indexKinds } from './index-kinds.ts';
import {
  asTerms,
  callSumTerms,
  summedNames,
  tagNumber,
  tagsOfCalls,
  temporaryTable,
  untagged,
} from './summed-columns.ts';

/** Offsets of time zones are multiples of this, so sums of slots are exact in all of them. */
export const slotMs = 15 * 60_000;
export const hourMs = 3_600_000;
/** The latency by hour is kept for so many hours; by day, for ever. */
export const latencyHoursKept = 90 * 24;

/** Totals of keys and labels by quarter of an hour, and of attempts, are kept for so many days. */
export const slotDaysKept = 35;
export const attemptSlotMs = 30 * 60_000;

/** Labels of a kind that a workspace may have on a day; others are added up as value 0, so that no day takes long to read. */
const labelsOfDayMax = 10_000;

/** The time from which on slots, labels and latencies have all calls; older calls are only in the daily totals. */
export function totalsFrom(database: Connection): number {
  return readMeta(database, 'totals_from') ?? 0;
}

/** The same of totals by label and quarter of an hour, and of attempts. */
export function slotsFrom(database: Connection): number {
  return readMeta(database, 'slots_from') ?? 0;
}

/** What the histograms of latency count. */
export const latencyMetrics = { firstToken: 0, total: 1, tokensPerSecond: 2, overhead: 3 } as const;
export type LatencyMetric = keyof typeof latencyMetrics;

/** Buckets are a quarter of a power of two wide: a percentile is off by at most a tenth. */
const bucketsPerDoubling = 4;
const bucketOf = (value: string) => `CAST(floor(${bucketsPerDoubling} * log2(max(${value}, 0.1))) AS bigint)`;

const isAnswered = 'status IN (1, 2)';

/** How each metric is computed from a row of `calls`, and of which calls. `read` is computed once, before `where` is checked. */
const measured: Record<LatencyMetric, { value: string; where: string; read?: string }> = {
  firstToken: { value: 'ttft_ms', where: 'ttft_ms IS NOT NULL' },
  total: { value: 'total_ms', where: isAnswered },
  tokensPerSecond: {
    value: '1000.0 * output / (total_ms - ttft_ms)',
    where: `${isAnswered} AND output > 0 AND total_ms > ttft_ms`,
  },
  // Until the first provider was asked.
  overhead: {
    read: "CAST(details ->> '$[0][2][0]' AS double precision) AS overhead_ms",
    value: 'overhead_ms',
    where: 'overhead_ms IS NOT NULL',
  },
};

/** Selects a row per metric of the calls in a range: `workspace, completed_at, hour, model, provider, metric, bucket`. */
export function latenciesOf(calls: string): string {
  const readingOnce = (read: string) =>
    `(SELECT workspace, completed_at, model, provider, ${read} FROM calls WHERE ${calls} ${everyRow}) AS measured WHERE`;
  return Object.entries(measured)
    .map(
      ([metric, { value, where, read }]) =>
        `SELECT workspace, completed_at, completed_at / ${hourMs} AS hour, model, coalesce(provider, 0) AS provider,
           CAST(${latencyMetrics[metric as LatencyMetric]} AS bigint) AS metric, ${bucketOf(value)} AS bucket
         FROM ${read ? readingOnce(read) : `calls WHERE ${calls} AND`} ${where}`,
    )
    .join(' UNION ALL ');
}

/** The labels whose calls are added up per day. */
export const labelKinds = {
  client: indexKinds.client,
  user: indexKinds.user,
  tag: indexKinds.tag,
  error: indexKinds.errorCode,
} as const;

/** Selects a row per label of the calls in a range: `kind, value` and the columns of the call. */
export function labelledCalls(calls: string): string {
  const withLabel = (kind: number, value: string, from = 'calls') =>
    `SELECT CAST(${kind} AS bigint) AS kind, ${value} AS value, calls.* FROM ${from} WHERE ${calls} AND ${value} IS NOT NULL`;
  return [
    withLabel(labelKinds.client, 'client'),
    withLabel(labelKinds.user, 'end_user'),
    withLabel(labelKinds.tag, tagNumber, `calls CROSS JOIN ${tagsOfCalls}`),
    withLabel(labelKinds.error, 'error_code'),
  ].join(' UNION ALL ');
}

const attempt = (at: number, type = 'bigint') => `CAST(json_each.value ->> '$[${at}]' AS ${type})`;

/** The groups of `attempt_slots`, computed from a row of `attemptsOf`. */
export const attemptGroups = {
  workspace: 'workspace',
  slot: `completed_at / ${attemptSlotMs}`,
  provider: attempt(0),
  model: attempt(1),
  error_code: `coalesce(${attempt(3)}, 0)`,
  bucket: `CASE WHEN ${attempt(3)} IS NULL THEN ${bucketOf(attempt(4, 'double precision'))} ELSE 0 END`,
};

/** A row per attempt of the calls in a range. */
export function attemptsOf(calls: string): string {
  return `calls CROSS JOIN json_each(calls.details) WHERE ${calls} AND json_each.key > 0`;
}

const range = `number > @after AND number <= @last AND completed_at >= @totalsFrom`;
const names = summedNames.join(', ');
const adds = summedNames.map((name) => `sum(${name})`).join(', ');
const addingTo = (table: string) => adding(table, summedNames);

/** The groups of `usage_label_days`, computed from a row of `labelledCalls`. */
export const labelGroups = {
  workspace: 'workspace',
  kind: 'kind',
  day: 'completed_at / 86400000',
  value: 'value',
};

/** What is folded into them, apart from `folding`. */
export const slotTables = [
  temporaryTable('folding_latency', 'workspace, hour, model, provider, metric, bucket, calls'),
  temporaryTable('folding_labels', `workspace, kind, day, slot, value, ${names}`),
];

/** Adds the calls of a fold. `folding` has their totals by slot, from `totals_from` on as `is_slotted`. */
export const slotStatements = [
  `INSERT INTO usage_slots (workspace, slot, model, provider, status, ${names})
   SELECT workspace, slot, model, provider, status, ${adds} FROM folding WHERE slot >= @fromSlot GROUP BY 1, 2, 3, 4, 5
   ON CONFLICT (workspace, slot, model, provider, status) DO UPDATE SET ${addingTo('usage_slots')}`,
  `INSERT INTO usage_key_slots (workspace, key, slot, status, ${names})
   SELECT workspace, key, slot, status, ${adds} FROM folding WHERE slot >= @fromSlot GROUP BY 1, 2, 3, 4
   ON CONFLICT (workspace, key, slot, status) DO UPDATE SET ${addingTo('usage_key_slots')}`,
  `INSERT INTO folding_latency (workspace, hour, model, provider, metric, bucket, calls)
   SELECT workspace, hour, model, provider, metric, bucket, count(*) FROM (${latenciesOf(range)}) AS latencies
   GROUP BY 1, 2, 3, 4, 5, 6`,
  `INSERT INTO latency_hours (workspace, hour, model, provider, metric, bucket, calls)
   SELECT workspace, hour, model, provider, metric, bucket, calls FROM folding_latency WHERE TRUE
   ON CONFLICT (workspace, hour, model, provider, metric, bucket) DO UPDATE SET ${adding('latency_hours', ['calls'])}`,
  `INSERT INTO latency_days (workspace, day, model, provider, metric, bucket, calls)
   SELECT workspace, hour / 24, model, provider, metric, bucket, sum(calls) FROM folding_latency WHERE TRUE
   GROUP BY 1, 2, 3, 4, 5, 6
   ON CONFLICT (workspace, day, model, provider, metric, bucket) DO UPDATE SET ${adding('latency_days', ['calls'])}`,
  `DELETE FROM latency_hours WHERE workspace IN (SELECT workspace FROM folding_latency)
     AND hour < (SELECT max(hour) FROM folding_latency) - ${latencyHoursKept}`,
  'DELETE FROM folding_latency',
  `INSERT INTO folding_labels (workspace, kind, day, slot, value, ${names})
   SELECT workspace, kind, completed_at / 86400000, completed_at / ${slotMs}, value, ${callSumTerms}
   FROM (${labelledCalls(range)}) AS labelled GROUP BY 1, 2, 3, 4, 5`,
  `UPDATE folding_labels SET value = 0
   WHERE value <> ${untagged} AND NOT EXISTS (SELECT 1 FROM usage_label_days AS known
       WHERE known.workspace = folding_labels.workspace AND known.kind = folding_labels.kind
         AND known.day = folding_labels.day AND known.value = folding_labels.value)
     AND (workspace, kind, day) IN (
       SELECT workspace, kind, day FROM (SELECT DISTINCT workspace, kind, day FROM folding_labels) AS days
       WHERE (SELECT count(*) FROM (SELECT 1 FROM usage_label_days AS known
           WHERE known.workspace = days.workspace AND known.kind = days.kind AND known.day = days.day
           LIMIT ${labelsOfDayMax}) AS counted) = ${labelsOfDayMax})`,
  `INSERT INTO usage_label_days (workspace, kind, day, value, ${names})
   SELECT workspace, kind, day, value, ${adds} FROM folding_labels WHERE TRUE GROUP BY 1, 2, 3, 4
   ON CONFLICT (workspace, kind, day, value) DO UPDATE SET ${addingTo('usage_label_days')}`,
  `INSERT INTO usage_label_slots (workspace, kind, slot, value, ${names})
   SELECT workspace, kind, slot, value, ${adds} FROM folding_labels WHERE slot >= @fromLabelSlot GROUP BY 1, 2, 3, 4
   ON CONFLICT (workspace, kind, slot, value) DO UPDATE SET ${addingTo('usage_label_slots')}`,
  'DELETE FROM folding_labels',
  `INSERT INTO attempt_slots (workspace, slot, provider, model, error_code, bucket, attempts, last)
   SELECT ${asTerms(attemptGroups)}, count(*), max(number)
   FROM ${attemptsOf('number > @after AND number <= @last AND completed_at >= @slotsFrom')} GROUP BY 1, 2, 3, 4, 5, 6
   ON CONFLICT (workspace, slot, provider, model, error_code, bucket)
   DO UPDATE SET ${adding('attempt_slots', ['attempts'])}, last = max(attempt_slots.last, excluded.last)`,
];
