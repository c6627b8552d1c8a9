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
 * `2026-11-21T08:54:15.000Z` (seconds and their parts may be left out), or a day, → milliseconds since 1970.
 * Undefined when it is neither, or when the calendar has no such day.
 */
export function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text)) return undefined;
  const ms = Date.parse(text);
  // A 31 February is taken for a day of March.
  return Number.isNaN(ms) || utcDay(ms) !== text.slice(0, 10) ? undefined : ms;
}
