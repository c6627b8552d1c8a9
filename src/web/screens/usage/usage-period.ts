import { type BucketName, bucketsOf } from '../../../shared/time/time-zones.ts';
import { type CustomRange, rangeTitle } from '../../data/custom-range.ts';

type UsageBucket = Exclude<BucketName, '15m'>;

/** The ranges of the screen: by how many buckets of each kind they are shown, the first kind by default. */
const ranges = {
  '24h': { title: 'last 24 hours', counts: { hour: 24 } },
  '7d': { title: 'last 7 days', counts: { day: 7, hour: 168 } },
  '30d': { title: 'last 30 days', counts: { day: 30, week: 5 } },
  '90d': { title: 'last 90 days', counts: { day: 90, week: 13, month: 3 } },
  '12mo': { title: 'last 12 months', counts: { month: 12, week: 52 } },
} as const satisfies Record<string, { title: string; counts: Partial<Record<UsageBucket, number>> }>;

export type UsageRange = keyof typeof ranges;

export const usageRanges = Object.keys(ranges) as UsageRange[];

/** Whole buckets up to now, and as many before them; times in ISO 8601. */
export interface UsagePeriod {
  /** Undefined for a period of one's own. */
  range: UsageRange | undefined;
  bucket: UsageBucket;
  /** The kinds of buckets that the range can be divided into. */
  buckets: readonly UsageBucket[];
  since: string;
  until: string;
  before: string;
  title: string;
}

const dayMs = 86_400_000;
/** Not shorter than a bucket: a day of 25 hours, a month of 31 days. */
const longestMs: Record<UsageBucket, number> = {
  hour: 3_600_000,
  day: 25 * 3_600_000,
  week: 7 * dayMs + 3_600_000,
  month: 31 * dayMs + 3_600_000,
};

/** The period that an address names; unknown names give the default of 30 days. */
export function usagePeriod(
  { range: rangeText, bucket: bucketText }: { range: string | null; bucket: string | null },
  now: number,
  timeZone: string,
  custom?: CustomRange,
): UsagePeriod {
  if (custom) return customPeriod(custom, bucketText, timeZone);
  const range = usageRanges.find((name) => name === rangeText) ?? '30d';
  const { title, counts } = ranges[range];
  const buckets = Object.keys(counts) as UsageBucket[];
  const bucket = buckets.find((name) => name === bucketText) ?? (buckets[0] as UsageBucket);
  const count = (counts as Record<string, number>)[bucket] ?? 1;
  const both = lastBuckets(2 * count, { bucket, until: now + 1, timeZone });
  const iso = (at: number | undefined) => new Date(at ?? now).toISOString();
  return {
    range,
    bucket,
    buckets,
    since: iso(both[count]?.start),
    until: iso(both.at(-1)?.end),
    before: iso(both[0]?.start),
    title,
  };
}

/** The last buckets that begin before a time. */
function lastBuckets(
  count: number,
  { bucket, until, timeZone }: { bucket: UsageBucket; until: number; timeZone: string },
) {
  const since = until - (count + 1) * longestMs[bucket];
  const found = bucketsOf({ since, until }, { bucket, timeZone, most: 4 * count + 8 }) ?? [];
  return found.slice(-count);
}

/** Whole buckets that contain a period, and as many before them. */
function customPeriod(range: CustomRange, bucketText: string | null, timeZone: string): UsagePeriod {
  const { since, until } = range;
  const buckets = bucketsFor(until - since);
  const bucket = buckets.find((name) => name === bucketText) ?? (buckets[0] as UsageBucket);
  const own = bucketsOf({ since, until }, { bucket, timeZone, most: 1_000 }) ?? [];
  const start = own[0]?.start ?? since;
  const earlier = lastBuckets(own.length, { bucket, until: start, timeZone });
  const iso = (at: number) => new Date(at).toISOString();
  return {
    range: undefined,
    bucket,
    buckets,
    since: iso(start),
    until: iso(own.at(-1)?.end ?? until),
    before: iso(earlier[0]?.start ?? start - (until - since)),
    title: `period from ${rangeTitle(range, timeZone, ' to ')}`,
  };
}

function bucketsFor(length: number): UsageBucket[] {
  if (length <= 3 * dayMs) return ['hour', 'day'];
  if (length <= 8 * dayMs) return ['day', 'hour'];
  if (length <= 100 * dayMs) return ['day', 'week', 'month'];
  return ['month', 'week'];
}
