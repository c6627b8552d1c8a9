/** A time as the configuration has it: `500ms`, `30s` or `2m`. */
export const durationPattern = '^(\\d{1,6}ms|\\d{1,5}s|\\d{1,3}m)$';

/** The milliseconds of a text that matches the pattern. */
export function durationMs(text: string): number {
  const count = Number.parseInt(text, 10);
  if (text.endsWith('ms')) return count;
  return text.endsWith('s') ? count * 1000 : count * 60_000;
}
