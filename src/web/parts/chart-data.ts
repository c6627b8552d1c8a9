import type { Result } from '../../shared/contract/endpoint.ts';
import type { getUsageSeries } from '../../shared/contract/usage.ts';
import type { BucketName } from '../../shared/time/time-zones.ts';
import { briefDollars } from '../../view/money.ts';
import { briefCount } from '../../view/numbers.ts';
import { bucketLabel } from '../../view/times.ts';
import { callsPerBucket } from '../../view/usage.ts';
import { type CallFigures, type CountedCalls, figureLinks } from '../data/calls-link.ts';
import { type CallsLink, type CallValue, groupValue } from '../data/calls-query.ts';

/** One line, or one part of each bar. */
export interface ChartSeries {
  label: string;
  /** One value per bucket; null where nothing is known. */
  values: readonly (number | null)[];
  /** One of the colours `0` to `7`, that of the others, or that of a status. */
  tone: Tone;
}

export type Tone = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 'other' | 'bad' | 'rejected';

/** Something that happened at a time. */
export interface ChartMark {
  /** In milliseconds since 1970. */
  at: number;
  label: string;
}

/** What a chart shows; the same object as long as nothing changes, as a new one is drawn. */
export interface ChartData {
  kind: 'bars' | 'lines';
  /** Start and end in milliseconds since 1970, without gaps. */
  buckets: readonly { start: number; end: number; label: string }[];
  series: readonly ChartSeries[];
  marks?: readonly ChartMark[];
  /** The name of a value on the axis and in the table. */
  format(value: number): string;
  /** Whether values are counted, so that the axis has no fractions. */
  isCount?: boolean;
  /** The calls of a part of a bar. */
  callsOf?(bucket: number, series: number): CountedCalls;
  timeZone: string;
}

type Series = Result<typeof getUsageSeries>;

const measures = {
  cost: { of: ({ cost_usd }: Series['series'][number]) => cost_usd.map(Number), format: briefDollars },
  calls: { of: callsPerBucket, format: briefCount },
  errors: { of: ({ errors }: Series['series'][number]) => errors, format: briefCount },
  rejected: { of: ({ rejected }: Series['series'][number]) => rejected, format: briefCount },
  input: { of: ({ input_tokens }: Series['series'][number]) => input_tokens, format: briefCount },
  output: { of: ({ output_tokens }: Series['series'][number]) => output_tokens, format: briefCount },
};

export type Measure = keyof typeof measures;

export const measureTitles: Readonly<Record<Measure, string>> = {
  cost: 'Cost',
  calls: 'Calls',
  errors: 'Errors',
  rejected: 'Rejected',
  input: 'Input',
  output: 'Output',
};

export function bucketsFor(
  buckets: Series['buckets'],
  bucket: BucketName,
  timeZone: string,
): ChartData['buckets'] {
  return buckets.map(({ start, end }) => ({
    start: Date.parse(start),
    end: Date.parse(end),
    label: bucketLabel({ start, end }, bucket, timeZone),
  }));
}

interface SeriesOptions {
  measure: Measure;
  timeZone: string;
  nameOf?: (group: string | null) => string;
  /** The filters of the calls of a group. */
  filtersOf: (group: CallValue) => CallsLink;
}

/** The figures of all charts that are about the same calls. */
const figuresOfMeasures = {
  cost: 'charged',
  input: 'charged',
  output: 'charged',
  calls: 'calls',
  errors: 'errors',
  rejected: 'rejected',
} as const satisfies Record<Measure, keyof CallFigures>;

/** Where parts of bars lead to. */
export function callsOfSeries(
  { buckets, series }: Series,
  { measure, filtersOf }: Pick<SeriesOptions, 'measure' | 'filtersOf'>,
): (bucket: number, at: number) => CountedCalls {
  return (bucket, at) => {
    const one = series[at] as Series['series'][number];
    const { start: since, end: until } = buckets[bucket] ?? {};
    const counts = {
      calls: callsPerBucket(one)[bucket] ?? 0,
      rejected: one.rejected[bucket] ?? 0,
      errors: one.errors[bucket] ?? 0,
    };
    const filters = { ...filtersOf(groupValue(one, series)), since, until };
    return figureLinks(filters, counts)[figuresOfMeasures[measure]];
  };
}

/** Bars of a measure, stacked by the groups of a series. */
export function stackedSeries(
  data: Series,
  { measure, timeZone, nameOf = (group) => group ?? 'all', filtersOf }: SeriesOptions,
): ChartData {
  const { of, format } = measures[measure];
  return {
    kind: 'bars',
    buckets: bucketsFor(data.buckets, data.bucket, timeZone),
    series: data.series.map((series, index) => ({
      label: series.is_other ? 'others' : nameOf(series.group),
      tone: series.is_other ? 'other' : ((index % 8) as Tone),
      values: of(series),
    })),
    format,
    isCount: measure !== 'cost',
    callsOf: callsOfSeries(data, { measure, filtersOf }),
    timeZone,
  };
}
