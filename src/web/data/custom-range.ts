import { localDay, startOfLocalDay } from '../../shared/time/time-zones.ts';
import { clock, day } from '../../view/times.ts';

/** A period that someone chose; times in milliseconds since 1970. */
export interface CustomRange {
  since: number;
  until: number;
}

const earliest = Date.parse('2020-01-01T00:00:00Z');
const dayMs = 86_400_000;

/** The period that an address names by two times; undefined if it names none that the daemon knows. */
export function customRange(query: Pick<URLSearchParams, 'get'>, now: number): CustomRange | undefined {
  const [since, until] = [query.get('since'), query.get('until')].map((text) => Date.parse(text ?? ''));
  if (since === undefined || until === undefined || !(since < until)) return undefined;
  const range = { since: Math.max(since, earliest), until: Math.min(until, now + dayMs) };
  return range.since < range.until ? range : undefined;
}

/** The period as it is in an address. */
export function rangeQuery({ since, until }: CustomRange): { since: string; until: string } {
  return { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
}

/** From the start of one local day to the end of another one. */
export function rangeOfDays(from: string, to: string, timeZone: string): CustomRange {
  return { since: startOfLocalDay(from, timeZone), until: startOfLocalDay(to, timeZone, 1) };
}

/** The first and the last local day of a period. */
export function daysOf({ since, until }: CustomRange, timeZone: string): { from: string; to: string } {
  return { from: localDay(since, timeZone), to: localDay(until - 1, timeZone) };
}

/** `20 Nov – 22 Nov`, with times where it does not consist of days. */
export function rangeTitle(range: CustomRange, timeZone: string, between = ' – '): string {
  const { from, to } = daysOf(range, timeZone);
  const whole = rangeOfDays(from, to, timeZone);
  const [first, last] = [day(range.since, timeZone), day(range.until - 1, timeZone)];
  if (whole.since === range.since && whole.until === range.until)
    return from === to ? first : `${first}${between}${last}`;
  const end = clock(range.until, timeZone);
  return `${first}, ${clock(range.since, timeZone)}${between}${from === to ? end : `${last}, ${end}`}`;
}
