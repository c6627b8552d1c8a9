import { RecentMap } from '../recent-map.ts';
import { daysSinceMonday } from './time.ts';

/** Spans of time that a chart shows one by one. */
export const bucketNames = ['15m', 'hour', 'day', 'week', 'month'] as const;
export type BucketName = (typeof bucketNames)[number];

const minuteMs = 60_000;
const quarterMs = 15 * minuteMs;
const dayMs = 24 * 60 * 60_000;

/** More than there are zones; names in other letters count, too. */
const formats = new RecentMap<string, Intl.DateTimeFormat>(1_000);
/** Milliseconds that a zone is ahead of UTC when a UTC day begins: a format takes 10 µs, and a chart needs a thousand times. */
const offsets = new RecentMap<string, number>(10_000);

/** Whether the name is an IANA time zone, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  try {
    return formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

/** The zone of this machine; UTC where it has none that is known, as with an empty `TZ`. */
export function localZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone && isTimeZone(timeZone) ? timeZone : 'UTC';
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  return format;
}

/** A local time as if it were one in UTC, in milliseconds since 1970. */
function localTime(at: number, timeZone: string): number {
  if (timeZone === 'UTC') return at;
  const day = Math.floor(at / dayMs);
  const offset = offsetAt(day, timeZone);
  return offset === offsetAt(day + 1, timeZone) ? at + offset : formattedTime(at, timeZone);
}

function offsetAt(day: number, timeZone: string): number {
  const name = `${timeZone} ${day}`;
  let offset = offsets.get(name);
  if (offset === undefined) {
    offset = formattedTime(day * dayMs, timeZone) - day * dayMs;
    offsets.set(name, offset);
  }
  return offset;
}

/** Without milliseconds. */
function formattedTime(at: number, timeZone: string): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The local day of a time: `2026-11-21`. */
export function localDay(at: number, timeZone: string): string {
  return new Date(localTime(at, timeZone)).toISOString().slice(0, 10);
}

/**
 * The first moment whose local time is this one or later: days begin an hour late where clocks are put forward at midnight,
 * and once where they are put back. Zones in use differ from UTC by quarters of an hour, so that this is a multiple of one.
 */
function momentOf(local: number, timeZone: string): number {
  if (timeZone === 'UTC') return local;
  // The first quarter in the range of all offsets that is not before the local time.
  let from = Math.floor((local - 16 * 60 * 60_000) / quarterMs);
  let to = Math.ceil((local + 16 * 60 * 60_000) / quarterMs);
  const guess = Math.floor((2 * local - localTime(local, timeZone)) / quarterMs);
  // Near the guess by the offset of now, unless clocks change in between.
  if (
    localTime((guess - 12) * quarterMs, timeZone) < local &&
    localTime((guess + 12) * quarterMs, timeZone) >= local
  ) {
    from = guess - 12;
    to = guess + 12;
  }
  for (let quarter = from; quarter <= to; quarter += 1) {
    if (localTime(quarter * quarterMs, timeZone) >= local) return quarter * quarterMs;
  }
  return to * quarterMs;
}

/** The start of the bucket that contains a local time, and that of the next one, as local times. */
function localBucket(
  local: number,
  bucket: 'day' | 'week' | 'month',
  weekStarts: Weekday = 'monday',
): { start: number; end: number } {
  const day = Math.floor(local / dayMs) * dayMs;
  if (bucket === 'day') return { start: day, end: day + dayMs };
  if (bucket === 'week') {
    const first = day - daysSinceMonday(day / dayMs - weekdays.indexOf(weekStarts)) * dayMs;
    return { start: first, end: first + 7 * dayMs };
  }
  const date = new Date(day);
  const month = (offset: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset);
  return { start: month(0), end: month(1) };
}

export interface Bucket {
  start: number;
  end: number;
}

export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;
export type Weekday = (typeof weekdays)[number];

/** The days of a time zone, by a clock time at which they begin. */
export interface ZonedDays {
  timeZone: string;
  /** Minutes after midnight, a multiple of 15. */
  dayStarts: number;
  /** The day with which weeks begin. */
  weekStarts: Weekday;
}

/**
 * The day, week or month that contains a time. It begins when the clocks of the zone show its start for the first time, or,
 * where they skip it, right after what they skip; so each begins when the one before ends.
 */
export function periodInZone(
  period: 'day' | 'week' | 'month',
  at: number,
  { timeZone, dayStarts, weekStarts }: ZonedDays,
): Bucket {
  const offset = dayStarts * minuteMs;
  const around = (local: number) => localBucket(local - offset, period, weekStarts);
  const momentAfter = (local: number) => momentOf(local + offset, timeZone);
  let local = around(localTime(at, timeZone));
  let [start, end] = [momentAfter(local.start), momentAfter(local.end)];
  // Clocks that are put back over the start of a day show times of both days on both of its sides.
  while (start > at) {
    local = localBucket(local.start - 1, period, weekStarts);
    [start, end] = [momentAfter(local.start), start];
  }
  while (end <= at) {
    local = localBucket(local.end, period, weekStarts);
    [start, end] = [end, momentAfter(local.end)];
  }
  return { start, end };
}

/**
 * The buckets that contain the times from `since` to before `until`, in order and without gaps; undefined if there are more
 * than `most`. Quarters and hours are those of UTC, which are those of zones with whole hours.
 */
export function bucketsOf(
  { since, until }: { since: number; until: number },
  { bucket, timeZone, most }: { bucket: BucketName; timeZone: string; most: number },
): Bucket[] | undefined {
  const buckets: Bucket[] = [];
  const add = (start: number, end: number) => {
    // A day that a zone skipped.
    if (end > start) buckets.push({ start, end });
    return buckets.length <= most;
  };
  if (bucket === '15m' || bucket === 'hour') {
    const length = bucket === '15m' ? quarterMs : 4 * quarterMs;
    if ((until - since) / length > most + 1) return undefined;
    for (let start = Math.floor(since / length) * length; start < until; start += length) {
      if (!add(start, start + length)) return undefined;
    }
    return buckets;
  }
  let local = localBucket(localTime(since, timeZone), bucket);
  let start = momentOf(local.start, timeZone);
  // Where clocks are put back over midnight, the start of a day may be after its first hour.
  for (let back = 0; start > since && back < 2; back += 1) {
    local = localBucket(local.start - 1, bucket);
    start = momentOf(local.start, timeZone);
  }
  // Zones have skipped a day at most once.
  for (let left = most + 2; start < until; left -= 1) {
    const end = momentOf(local.end, timeZone);
    if (left === 0 || !add(start, end)) return undefined;
    start = end;
    local = localBucket(local.end, bucket);
  }
  return buckets;
}

/** The start of a local day, `2026-11-21`, or of one some days before or after it. */
export function startOfLocalDay(day: string, timeZone: string, daysLater = 0): number {
  return momentOf(Date.parse(day) + daysLater * dayMs, timeZone);
}
