import type { Result } from '../../../shared/contract/endpoint.ts';
import type { getUsageSeries, UsageGroup, UsageSums } from '../../../shared/contract/usage.ts';
import { type CsvDelimiter, csvRow } from '../../../shared/text/csv.ts';
import { sumOfUsd } from '../../../view/money.ts';
import { sum } from '../../../view/numbers.ts';
import { allCalls, figuresOf } from '../../../view/usage.ts';
import { type CallValue, groupValue } from '../../data/calls-query.ts';

type Series = Result<typeof getUsageSeries>;

/** A line of the table: the calls of a group, or of two, or of a group in a bucket. */
export interface UsageRow {
  /** The names of its groups; null for calls without one. */
  groups: readonly (string | null)[];
  /** Whether it stands for all groups that have no line. */
  isOther: boolean;
  /** What its calls have of each group. */
  values: readonly CallValue[];
  /** Set if the line is of one bucket. */
  bucket: { start: string; end: string } | undefined;
  /** All calls, those that were rejected included. */
  calls: number;
  rejected: number;
  /** Undefined where they are not known by these groups. */
  errors: number | undefined;
  input: number;
  cached: number;
  output: number;
  usd: string;
}

/** A row per series with its sums, in the order of the chart. */
export function rowsOfSeries({ series }: Series): UsageRow[] {
  return series
    .map((one) => rowOf(one, series, [figuresOf(one), undefined]))
    .filter(({ calls }) => calls > 0);
}

/** A row per bucket and series that has calls, the newest first. */
export function rowsOverTime({ buckets, series }: Series): UsageRow[] {
  return buckets
    .flatMap((bucket, at) => series.map((one) => rowOf(one, series, [figuresOf(one, at, at + 1), bucket])))
    .filter(({ calls }) => calls > 0)
    .sort((a, b) => Date.parse(b.bucket?.start ?? '') - Date.parse(a.bucket?.start ?? ''));
}

function rowOf(
  one: Series['series'][number],
  all: Series['series'],
  [figures, bucket]: [ReturnType<typeof figuresOf>, UsageRow['bucket']],
): UsageRow {
  const { rejected, errors, input, cachedInput: cached, output, costUsd: usd } = figures;
  return {
    groups: [one.group],
    isOther: one.is_other,
    values: [groupValue(one, all)],
    bucket,
    calls: allCalls(figures),
    rejected,
    errors,
    input,
    cached,
    output,
    usd,
  };
}

/** A row per group, or pair of groups, the dearest first. */
export function rowsOfGroups(groups: readonly UsageGroup[]): UsageRow[] {
  return groups
    .map((one) => ({
      groups: one.groups,
      isOther: false,
      values: one.groups,
      bucket: undefined,
      ...sumsOf(one),
    }))
    .sort((a, b) => Number(b.usd) - Number(a.usd) || b.calls - a.calls);
}

type RowSums = Omit<UsageRow, 'groups' | 'isOther' | 'values' | 'bucket'>;

/** Sums of the API as those of a row; errors are not among them. */
export function sumsOf({ tokens, cost, ...counts }: UsageSums): RowSums {
  return {
    calls: allCalls(counts),
    rejected: counts.rejected,
    errors: undefined,
    input: tokens.input,
    cached: tokens.cached_input,
    output: tokens.output,
    usd: cost.total_usd,
  };
}

/** What the rows add up to. */
export function totalOf(rows: readonly UsageRow[]): RowSums {
  const all = (of: (row: UsageRow) => number) => sum(rows.map(of));
  return {
    calls: all(({ calls }) => calls),
    rejected: all(({ rejected }) => rejected),
    errors: rows.some(({ errors }) => errors === undefined) ? undefined : all(({ errors = 0 }) => errors),
    input: all(({ input }) => input),
    cached: all(({ cached }) => cached),
    output: all(({ output }) => output),
    usd: sumOfUsd(rows.map(({ usd }) => usd)),
  };
}

/** The rows of a table as CSV, with exact numbers. `nameOf` gives the text of a group. */
export function csvOfRows(
  rows: readonly UsageRow[],
  groups: readonly string[],
  nameOf: (row: UsageRow, at: number) => string,
  delimiter?: CsvDelimiter,
): string {
  const hasBuckets = rows.some(({ bucket }) => bucket !== undefined);
  const hasErrors = totalOf(rows).errors !== undefined;
  const head = [
    ...(hasBuckets ? ['start', 'end'] : []),
    ...groups,
    'calls',
    ...(hasErrors ? ['errors'] : []),
    'rejected',
    'input_tokens',
    'cached_input_tokens',
    'output_tokens',
    'cost_usd',
  ];
  const lines = rows.map((row) =>
    csvRow(
      [
        ...(hasBuckets ? [row.bucket?.start, row.bucket?.end] : []),
        ...groups.map((_, at) => nameOf(row, at)),
        row.calls,
        ...(hasErrors ? [row.errors] : []),
        row.rejected,
        row.input,
        row.cached,
        row.output,
        row.usd,
      ],
      delimiter,
    ),
  );
  return csvRow(head, delimiter) + lines.join('');
}
