import type { UsageSeries } from '../shared/contract/usage.ts';
import { sumOfUsd } from './money.ts';
import { percent, sum } from './numbers.ts';

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

/** Calls in each bucket that failed, were interrupted or were rejected. */
export function errorsPerBucket({
  errors,
  rejected = [],
}: Pick<UsageSeries, 'errors'> & Partial<Pick<UsageSeries, 'rejected'>>): number[] {
  return errors.map((count, at) => count + (rejected[at] ?? 0));
}
