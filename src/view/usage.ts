import type { UsageGroup, UsageSeries } from '../shared/contract/usage.ts';
import type { Field } from './field.ts';
import { briefDollars, dollars, sumOfUsd } from './money.ts';
import { count, percent, sum } from './numbers.ts';

/*
 * How the numbers of usage are told in the CLI, the TUI and the page. Each call is counted once: it was admitted
 * (`requests`), and may then have failed (`errors`), or it was rejected before a provider was asked.
 */

/** Counts of the calls of a period or a group. */
interface CallCounts {
  requests: number;
  rejected: number;
  /** Of `requests`, those that failed or were interrupted. */
  errors: number;
}

/** What the calls of a period or a group add up to. */
interface UsageFigures extends CallCounts {
  input: number;
  cachedInput: number;
  output: number;
  costUsd: string;
}

/** Earlier daemons count no rejected calls. */
type Counted = Pick<CallCounts, 'requests'> & Partial<Pick<CallCounts, 'rejected'>>;

/** All calls, those that were rejected included. */
export function allCalls({ requests, rejected = 0 }: Counted): number {
  return requests + rejected;
}

/** The share of admitted calls that failed, from 0 to 1. */
export function errorShare({ requests, errors }: Pick<CallCounts, 'requests' | 'errors'>): number {
  return requests === 0 ? 0 : errors / requests;
}

/** The share of all calls that were rejected, from 0 to 1. */
export function rejectedShare(counts: Counted): number {
  const { rejected = 0 } = counts;
  return rejected === 0 ? 0 : rejected / allCalls(counts);
}

/** `3.1 % rejected`; undefined if no call was. */
export function rejectedText(counts: Counted): string | undefined {
  return counts.rejected ? `${percent(rejectedShare(counts))} rejected` : undefined;
}

/** Sums of a series, of all its buckets or of some. */
export function figuresOf(series: UsageSeries | undefined, from = 0, to?: number): UsageFigures {
  const part = <T>(values: readonly T[] | undefined) => (values ?? []).slice(from, to);
  return {
    requests: sum(part(series?.requests)),
    rejected: sum(part(series?.rejected)),
    errors: sum(part(series?.errors)),
    input: sum(part(series?.input_tokens)),
    cachedInput: sum(part(series?.cached_input_tokens)),
    output: sum(part(series?.output_tokens)),
    costUsd: sumOfUsd(part(series?.cost_usd)),
  };
}

/** All calls in each bucket of a series. */
export function callsPerBucket({
  requests,
  rejected = [],
}: Pick<UsageSeries, 'requests'> & Partial<Pick<UsageSeries, 'rejected'>>): number[] {
  return requests.map((count, at) => count + (rejected[at] ?? 0));
}

type CallSeries = Parameters<typeof callsPerBucket>[0];

/** Whether there were calls, rejected ones included. */
export function hasCalls(series: readonly CallSeries[]): boolean {
  return series.some((each) => callsPerBucket(each).some((count) => count > 0));
}

/** Whether there were calls, and none had a cost, as with local models. */
export function isFree(series: readonly (CallSeries & Pick<UsageSeries, 'cost_usd'>)[]): boolean {
  return hasCalls(series) && series.every(({ cost_usd: cost }) => cost.every((usd) => Number(usd) === 0));
}

/** Calls in each bucket that failed, were interrupted or were rejected. */
export function errorsPerBucket({
  errors,
  rejected = [],
}: Pick<UsageSeries, 'errors'> & Partial<Pick<UsageSeries, 'rejected'>>): number[] {
  return errors.map((count, at) => count + (rejected[at] ?? 0));
}

type UsageField = Field<UsageGroup>;

function counted(
  name: string,
  value: (group: UsageGroup) => number,
  layout?: Partial<UsageField>,
): UsageField {
  return { name, unit: 'count', value, text: (group) => count(value(group)), ...layout };
}

function charged(
  name: string,
  value: (group: UsageGroup) => string,
  layout?: Partial<UsageField>,
): UsageField {
  const text = (group: UsageGroup) => briefDollars(value(group));
  return { name, unit: 'usd', value, text, exact: (group) => dollars(value(group)), ...layout };
}

/** What the calls of a group add up to. */
export const usageFields: readonly UsageField[] = [
  counted('requests', ({ requests }) => requests, { width: 8 }),
  // Earlier daemons count none.
  counted('rejected', ({ rejected = 0 }) => rejected, { width: 8, spare: 1 }),
  counted('input', ({ tokens }) => tokens.input, { width: 10, spare: 2 }),
  counted('cached_input', ({ tokens }) => tokens.cached_input),
  counted('cache_write', ({ tokens }) => tokens.cache_write),
  counted('output', ({ tokens }) => tokens.output, { width: 10, spare: 2 }),
  counted('reasoning', ({ tokens }) => tokens.reasoning),
  charged('cost_usd', ({ cost }) => cost.total_usd),
  charged('charged_usd', (group) => group.charged_usd, { width: 12 }),
];
