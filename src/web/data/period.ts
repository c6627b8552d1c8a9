import { type BucketName, bucketsOf, localDay, startOfLocalDay } from '../../shared/time/time-zones.ts';
import { type CustomRange, rangeTitle } from './custom-range.ts';

/** The ranges that a chart can show, and into which buckets it divides them. */
const ranges = {
  '1h': { ms: 3_600_000, bucket: '15m', latency: 'hour', title: 'last hour' },
  '24h': { ms: 86_400_000, bucket: '15m', latency: 'hour', title: 'last 24 hours' },
  '7d': { ms: 7 * 86_400_000, bucket: 'hour', latency: 'hour', title: 'last 7 days' },
  '30d': { ms: 30 * 86_400_000, bucket: 'day', latency: 'day', title: 'last 30 days' },
} as const;

export type RangeName = keyof typeof ranges;

export const rangeNames = Object.keys(ranges) as RangeName[];

export function rangeIn(text: string | null, otherwise: RangeName = '24h'): RangeName {
  return rangeNames.find((name) => name === text) ?? otherwise;
}

/** A range of whole buckets up to now, and the one of the same length before it. */
export interface Period {
  since: string;
  until: string;
  before: string;
  bucket: BucketName;
  latencyBucket: 'hour' | 'day';
  /** `last 24 hours`. */
  title: string;
}

const quarterMs = 15 * 60_000;
const hourMs = 4 * quarterMs;
const dayMs = 24 * hourMs;

export function periodOf(name: RangeName, now: number, timeZone: string): Period {
  const { ms, bucket, latency, title } = ranges[name];
  const iso = (at: number) => new Date(at).toISOString();
  const shared = { bucket, latencyBucket: latency, title };
  if (bucket === 'day') {
    const today = localDay(now, timeZone);
    const days = Math.round(ms / 86_400_000);
    const start = (daysLater: number) => iso(startOfLocalDay(today, timeZone, daysLater));
    return { ...shared, since: start(1 - days), until: start(1), before: start(1 - 2 * days) };
  }
  const length = bucket === 'hour' ? 4 * quarterMs : quarterMs;
  const until = Math.floor(now / length + 1) * length;
  return { ...shared, since: iso(until - ms), until: iso(until), before: iso(until - 2 * ms) };
}

/** A period of one's own, in whole buckets that contain it, and the one of the same length before it. */
export function customPeriod(range: CustomRange, timeZone: string): Period {
  const { since, until } = range;
  const bucket = bucketFor(until - since);
  const all = bucketsOf({ since, until }, { bucket, timeZone, most: 1_000 });
  const [first, end] = [all?.[0]?.start ?? since, all?.at(-1)?.end ?? until];
  const iso = (at: number) => new Date(at).toISOString();
  const before = bucketsOf({ since: 2 * first - end, until: first }, { bucket, timeZone, most: 1_000 })?.[0]
    ?.start;
  return {
    since: iso(first),
    until: iso(end),
    before: iso(before ?? 2 * first - end),
    bucket,
    latencyBucket: until - since <= 8 * dayMs ? 'hour' : 'day',
    title: `period from ${rangeTitle(range, timeZone, ' to ')}`,
  };
}

/** So that a chart has neither a few bars nor hundreds. */
function bucketFor(length: number): BucketName {
  if (length <= 26 * hourMs) return '15m';
  if (length <= 8 * dayMs) return 'hour';
  if (length <= 100 * dayMs) return 'day';
  return length <= 750 * dayMs ? 'week' : 'month';
}
