import { type CallQuery, queryTime } from '../../../shared/calls/query.ts';
import { earliestTime, parseTime } from '../../../shared/time/time.ts';
import type { BucketName } from '../../../shared/time/time-zones.ts';

const quarterMs = 15 * 60_000;
const dayMs = 24 * 60 * 60_000;

/** The times of a histogram, which any link can name: those in which there are calls, and of buckets a few hundred. */
export function rangeOf(
  { since, until }: Pick<CallQuery, 'since' | 'until'>,
  at: number,
): { since: string; until: string; bucket: BucketName } {
  const msOf = (text: string | undefined) =>
    text === undefined ? undefined : parseTime(queryTime(text, at));
  const next = Math.floor(at / quarterMs + 1) * quarterMs;
  const end = Math.max(earliestTime + quarterMs, Math.min(msOf(until) ?? next, next + dayMs));
  const start = Math.max(earliestTime, Math.min(msOf(since) ?? end - dayMs, end - 1));
  return {
    since: new Date(start).toISOString(),
    until: new Date(end).toISOString(),
    bucket: bucketOf((end - start) / dayMs),
  };
}

function bucketOf(days: number): BucketName {
  if (days <= 1.5) return '15m';
  if (days <= 8) return 'hour';
  if (days <= 92) return 'day';
  return days <= 2700 ? 'week' : 'month';
}
