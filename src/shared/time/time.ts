/** Milliseconds since 1970 → `2026-11-21T08:54:15.000Z`, the form of every timestamp outside OpenAI-shaped objects. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Milliseconds since 1970 → whole Unix seconds, the form inside OpenAI-shaped objects. */
export function unixSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** The UTC day of a time as `2026-11-21`. */
export function utcDay(ms: number): string {
  return isoTime(ms).slice(0, 10);
}

const dayMs = 24 * 60 * 60 * 1000;

/** The start of the UTC day of a time. */
export function startOfDay(ms: number): number {
  return ms - (ms % dayMs);
}

/** The end of the UTC day of a time: the midnight after it. */
export function endOfDay(ms: number): number {
  return ms - (ms % dayMs) + dayMs;
}

/** How many days after Monday a day is; days are counted from 1970-01-01, a Thursday, and those before it are negative. */
export function daysSinceMonday(day: number): number {
  return (((day + 3) % 7) + 7) % 7;
}

/** Ranges of calls begin here at the earliest: none was made before, and each loop over a range is bounded by its length. */
export const earliestTime = Date.UTC(2020, 0, 1);

/** A time or a UTC day, as `parseTime` reads it. */
export const timePattern =
  '^\\d{4}-\\d{2}-\\d{2}([Tt]([01]\\d|2[0-3]):\\d{2}(:\\d{2}(\\.\\d{1,9})?)?([Zz]|[+-]\\d{2}:\\d{2}))?$';

const timeFormat = new RegExp(timePattern);

/**
 * Parses `2026-11-21T08:54:15.000Z` (seconds and fractions optional, any offset) or a UTC day into milliseconds since
 * 1970. Undefined if it is neither, or not a day of the calendar.
 */
export function parseTime(text: string): number | undefined {
  if (!timeFormat.test(text)) return undefined;
  const day = text.slice(0, 10);
  const midnight = Date.parse(day);
  // JavaScript reads 31 February as a day of March.
  if (Number.isNaN(midnight) || utcDay(midnight) !== day) return undefined;
  const ms = Date.parse(text.toUpperCase());
  return Number.isNaN(ms) ? undefined : ms;
}
