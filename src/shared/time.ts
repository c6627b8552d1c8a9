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

/**
 * Parses `2026-11-21T08:54:15.000Z` (seconds and fractions optional) or a day into milliseconds since 1970. Undefined
 * if it is neither, or not a day of the calendar.
 */
export function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text)) return undefined;
  const ms = Date.parse(text);
  // JavaScript reads 31 February as a day of March.
  return Number.isNaN(ms) || utcDay(ms) !== text.slice(0, 10) ? undefined : ms;
}
