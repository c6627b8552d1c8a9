import type { BucketName } from '../shared/time/time-zones.ts';

/*
 * Times as the CLI, the TUI and the page show them: `21 Nov, 14:05`. A zone that is not given is that of the machine. Lines of
 * logs have `sortableTime`.
 */

type Moment = string | number;

const time = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const date = { day: 'numeric', month: 'short', year: 'numeric' } as const;

const formats = new Map<string, Intl.DateTimeFormat>();

/** A text that is no time is returned as it is. */
function format(at: Moment, options: Intl.DateTimeFormatOptions): string {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  if (Number.isNaN(ms)) return String(at);
  const name = JSON.stringify(options);
  let known = formats.get(name);
  if (!known) {
    known = new Intl.DateTimeFormat('en-GB', { hourCycle: 'h23', ...options });
    formats.set(name, known);
  }
  return known.format(ms);
}

/** `14:05`. */
export function clock(at: Moment, timeZone?: string): string {
  return format(at, { timeZone, hour: time.hour, minute: time.minute });
}

/** `14:05:09`. */
export function clockTime(at: Moment, timeZone?: string): string {
  return format(at, { timeZone, ...time });
}

/** `21 Nov`. */
export function day(at: Moment, timeZone?: string): string {
  return format(at, { timeZone, day: date.day, month: date.month });
}

/** `21 Nov, 14:05`. */
export function dayAndClock(at: Moment, timeZone?: string): string {
  return `${day(at, timeZone)}, ${clock(at, timeZone)}`;
}

/** `14:05:09` today, `21 Nov, 14:05:09` this year, else `21 Nov 2025, 14:05:09`. */
export function shortTime(at: Moment, now: number, timeZone?: string): string {
  const text = clockTime(at, timeZone);
  const given = shortDay(at, now, timeZone);
  return given === undefined ? text : `${given}, ${text}`;
}

/** `21 Nov` this year, else `21 Nov 2025`; undefined today. */
export function shortDay(at: Moment, now: number, timeZone?: string): string | undefined {
  const given = format(at, { timeZone, ...date });
  const today = format(now, { timeZone, ...date });
  if (given === today) return undefined;
  return given.slice(-4) === today.slice(-4) ? day(at, timeZone) : given;
}

/** `21 Nov 2026, 14:05:09.250 GMT+1`: for titles and copies. */
export function exactTime(at: Moment, timeZone?: string): string {
  return format(at, { timeZone, ...date, ...time, fractionalSecondDigits: 3, timeZoneName: 'short' });
}

/** A time to come, without seconds: `Mon 23 Nov 2026, 08:00 CET`. */
export function plannedTime(at: Moment, timeZone?: string): string {
  const { hour, minute } = time;
  const text = format(at, { timeZone, weekday: 'short', ...date, hour, minute, timeZoneName: 'short' });
  return text.replace(/^(\w+), /, '$1 ');
}

/** `2026-11-23 08:54:15`, for lines that are sorted and searched. */
export function sortableTime(at: Moment, timeZone?: string): string {
  return format(at, { timeZone, ...time, year: 'numeric', month: '2-digit', day: '2-digit' }).replace(
    /^(\d+)\/(\d+)\/(\d+), /,
    '$3-$2-$1 ',
  );
}

/** The name of a bucket: `21 Nov, 14:00 – 14:15`, `Sat 21 Nov`, `week of 16 Nov`, `November 2026`. */
export function bucketLabel(
  { start, end }: { start: Moment; end: Moment },
  bucket: BucketName,
  timeZone?: string,
): string {
  if (bucket === '15m' || bucket === 'hour')
    return `${dayAndClock(start, timeZone)} – ${clock(end, timeZone)}`;
  if (bucket === 'day') return format(start, { timeZone, weekday: 'short', day: 'numeric', month: 'short' });
  if (bucket === 'week') return `week of ${day(start, timeZone)}`;
  return format(start, { timeZone, month: 'long', year: 'numeric' });
}
