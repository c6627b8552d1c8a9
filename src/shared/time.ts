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

/** An ISO 8601 time or day in UTC → milliseconds since 1970; undefined when there is no such time. */
export function parseTime(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
