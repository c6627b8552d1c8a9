import type { BucketName } from '../../shared/time/time-zones.ts';

/** Times as people read them, in a zone. */

const formats = new Map<string, Intl.DateTimeFormat>();

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = JSON.stringify(options);
  let known = formats.get(name);
  if (!known) {
    known = new Intl.DateTimeFormat('en-GB', { hourCycle: 'h23', ...options });
    formats.set(name, known);
  }
  return known;
}

type Moment = string | number;
const msOf = (at: Moment): number => (typeof at === 'number' ? at : Date.parse(at));

/** `14:05`. */
export function clock(at: Moment, timeZone: string): string {
  return format({ timeZone, hour: '2-digit', minute: '2-digit' }).format(msOf(at));
}

/** `21 Nov`. */
export function day(at: Moment, timeZone: string): string {
  return format({ timeZone, day: 'numeric', month: 'short' }).format(msOf(at));
}

/** `21 Nov, 14:05`. */
export function dayAndClock(at: Moment, timeZone: string): string {
  return `${day(at, timeZone)}, ${clock(at, timeZone)}`;
}

/** `21 Nov 2026, 14:05:09 GMT+1`: for titles and copies. */
export function exactTime(at: Moment, timeZone: string): string {
  return format({
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  }).format(msOf(at));
}

/** The name of a bucket: `21 Nov, 14:00 – 14:15`, `Sat, 21 Nov`, `week of 16 Nov`, `November 2026`. */
export function bucketLabel(
  { start, end }: { start: Moment; end: Moment },
  bucket: BucketName,
  timeZone: string,
): string {
  if (bucket === '15m' || bucket === 'hour')
    return `${dayAndClock(start, timeZone)} – ${clock(end, timeZone)}`;
  if (bucket === 'day')
    return format({ timeZone, weekday: 'short', day: 'numeric', month: 'short' }).format(msOf(start));
  if (bucket === 'week') return `week of ${day(start, timeZone)}`;
  return format({ timeZone, month: 'long', year: 'numeric' }).format(msOf(start));
}

/** How long ago a time is: `3 min ago`. */
export function ago(at: Moment, now: number): string {
  const seconds = Math.max(0, Math.round((now - msOf(at)) / 1_000));
  if (seconds < 60) return 'just now';
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ago`;
  return `${Math.floor(hours / 24)} days ago`;
}
