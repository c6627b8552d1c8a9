import { InvalidArgumentError } from '@commander-js/extra-typings';
import { isDayWord } from '../shared/calls/query.ts';
import { parseTime, utcDay } from '../shared/time/time.ts';
import { isTimeZone, localDay, localZone } from '../shared/time/time-zones.ts';

const dayMs = 86_400_000;
const unitsMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: dayMs,
  w: 7 * dayMs,
};
const farthestMs = 36_500 * dayMs;

interface Clock {
  /** In milliseconds since 1970. */
  now: () => number;
}

/** What help texts say about options that `pastTime` reads. */
export const pastTimeHelp = '10m, 2h, 3d, yesterday, a UTC day or a time';

/** A parser for options that take a time of the past: how long ago, a UTC day or a time. */
export function pastTime({ now }: Clock) {
  const parse = pastTimeInZone({ now });
  return (text: string): string => dayInZone(parse(text), undefined, { now });
}

/** The same where another option names the zone of days; `dayInZone` makes a day of its words then. */
export function pastTimeInZone({ now }: Clock) {
  return (text: string): string => {
    if (isDayWord(text)) return text;
    const span = spanIn(text);
    if (span !== undefined) return new Date(now() - span).toISOString();
    if (parseTime(text) !== undefined) return text;
    throw new InvalidArgumentError('It must be like 2h, 3d, yesterday, 2026-11-01 or 2026-11-01T08:00:00Z.');
  };
}

/** What `pastTimeInZone` returned, with the day in place of `today` and `yesterday`; UTC without a zone. */
export function dayInZone(text: string, timeZone: string | undefined, { now }: Clock): string {
  if (!isDayWord(text)) return text;
  const today = localDay(now(), timeZone ?? 'UTC');
  return text === 'today' ? today : utcDay(Date.parse(today) - dayMs);
}

/** The help and parser of the option that names the zone of days. */
export const zoneOption = [
  '--tz <zone>',
  'whose days they are: UTC, local or a zone like Europe/Berlin',
  zone,
] as const;

/** A parser for options that take a time of the future: in how long, a UTC day or a time. */
export function futureTime({ now }: Clock) {
  return (text: string): string => {
    if (text === 'tomorrow') return `${utcDay(now() + dayMs)}T00:00:00Z`;
    const span = spanIn(text);
    if (span === 0) throw new InvalidArgumentError('It must be from 1s to 36500d.');
    if (span !== undefined) return new Date(now() + span).toISOString();
    if (/^\d{4}-\d{2}-\d{2}$/.test(text) && parseTime(text) !== undefined) return `${text}T00:00:00Z`;
    if (parseTime(text) !== undefined) return text;
    throw new InvalidArgumentError('It must be like 30d, 12h, 2027-01-31 or 2027-01-31T00:00:00Z.');
  };
}

/** The milliseconds of an option like `1h` or `30d`. */
export function spanOption(text: string): number {
  const span = spanIn(text);
  if (span === undefined) throw new InvalidArgumentError('It must be like 10m, 1h or 30d.');
  return span;
}

/** A parser for options that take at most so many seconds: `30s` or `2m`. Returns seconds. */
export function secondsTo(max: number) {
  return (text: string): number => {
    const seconds = (spanIn(text) ?? Number.NaN) / 1000;
    if (seconds <= max) return seconds;
    throw new InvalidArgumentError(`It must be like 30s or 2m, at most ${max}s.`);
  };
}

/** The milliseconds of `10m`; undefined for other texts. */
function spanIn(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  const ms = Number(count) * (unitsMs[unit] ?? 0);
  if (ms <= farthestMs) return ms;
  throw new InvalidArgumentError('It must be at most 36500d.');
}

/** A parser for time zones; `local` is the zone of this machine. */
export function zone(text: string): string {
  if (text !== 'local' && !isTimeZone(text))
    throw new InvalidArgumentError('It must be UTC, local or a zone like Europe/Berlin.');
  return text === 'local' ? localZone() : text;
}
