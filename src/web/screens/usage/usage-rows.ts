import type { Result } from '../../../shared/contract/endpoint.ts';
import type { getUsageSeries, UsageGroup } from '../../../shared/contract/usage.ts';
import { csvRow } from '../../../shared/text/csv.ts';
import { sumOfUsd } from '../../../view/money.ts';
import { sum } from '../../../view/numbers.ts';

type Series = Result<typeof getUsageSeries>;

/** A line of the table: the calls of a group, or of two, or of a group in a bucket. */
export interface UsageRow {
  /** The names of its groups; null for calls without one. */
  groups: readonly (string | null)[];
  /** Whether it stands for all groups that have no line. */
  isOther: boolean;
  /** Set if the line is of one bucket. */
  bucket: { start: string; end: string } | undefined;
  calls: number;
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
    .map((one) => ({
      groups: [one.group],
      isOther: one.is_other,
      bucket: undefined,
      calls: sum(one.requests),
      errors: sum(one.errors),
      input: sum(one.input_tokens),
      cached: sum(one.cached_input_tokens),
      output: sum(one.output_tokens),
      usd: sumOfUsd(one.cost_usd),
    }))
    .filter(({ calls }) => calls > 0);
}

/** A row per bucket and series that has calls, the newest first. */
export function rowsOverTime({ buckets, series }: Series): UsageRow[] {
  return buckets
    .flatMap((bucket, at) =>
      series.map((one) => ({
        groups: [one.group],
        isOther: one.is_other,
        bucket,
        calls: one.requests[at] ?? 0,
        errors: one.errors[at] ?? 0,
        input: one.input_tokens[at] ?? 0,
        cached: one.cached_input_tokens[at] ?? 0,
        output: one.output_tokens[at] ?? 0,
        usd: one.cost_usd[at] ?? '0',
      })),
    )
    .filter(({ calls }) => calls > 0)
    .sort((a, b) => Date.parse(b.bucket.start) - Date.parse(a.bucket.start));
}

/** A row per group, or pair of groups, the dearest first. */
export function rowsOfGroups(groups: readonly UsageGroup[]): UsageRow[] {
  return groups
    .map(({ groups: names, requests, tokens, cost }) => ({
      groups: names,
      isOther: false,
      bucket: undefined,
      calls: requests,
      errors: undefined,
      input: tokens.input,
      cached: tokens.cached_input,
      output: tokens.output,
      usd: cost.total_usd,
    }))
    .sort((a, b) => Number(b.usd) - Number(a.usd) || b.calls - a.calls);
}

/** What the rows add up to. */
export function totalOf(rows: readonly UsageRow[]): Omit<UsageRow, 'groups' | 'isOther' | 'bucket'> {
  const all = (of: (row: UsageRow) => number) => sum(rows.map(of));
  return {
    calls: all(({ calls }) => calls),
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
): string {
  const hasBuckets = rows.some(({ bucket }) => bucket !== undefined);
  const hasErrors = totalOf(rows).errors !== undefined;
  const head = [
    ...(hasBuckets ? ['start', 'end'] : []),
    ...groups,
    'calls',
    ...(hasErrors ? ['errors'] : []),
    'input_tokens',
    'cached_input_tokens',
    'output_tokens',
    'cost_usd',
  ];
  const lines = rows.map((row) =>
    csvRow([
      ...(hasBuckets ? [row.bucket?.start, row.bucket?.end] : []),
      ...groups.map((_, at) => nameOf(row, at)),
      row.calls,
      ...(hasErrors ? [row.errors] : []),
      row.input,
      row.cached,
      row.output,
      row.usd,
    ]),
  );
  return csvRow(head) + lines.join('');
}
