/** More than this tells nothing that is worth waiting for; some providers send days, or nonsense. */
export const retryAfterSecondsMax = 60;

/**
 * How long a provider asks to be left alone, in whole seconds from 0 to `retryAfterSecondsMax`; undefined when it does
 * not say. Source: RFC 9110, 10.2.3; `retry-after-ms` is OpenAI's, and more exact.
 */
export function retryAfterSeconds(headers: Record<string, string>): number | undefined {
  const ms = headers['retry-after-ms'];
  if (ms !== undefined && /^\d+(\.\d+)?$/.test(ms)) return capped(Number(ms) / 1000);
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return capped(Number(value));
  // Dates begin with a weekday; the parser would take many other things for one.
  const until = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(until)) return undefined;
  // By the provider's own clock where it is told: two clocks rarely agree.
  const told = Date.parse(headers.date ?? '');
  return capped((until - (Number.isNaN(told) ? Date.now() : told)) / 1000);
}

function capped(seconds: number): number {
  return Math.min(retryAfterSecondsMax, Math.max(0, Math.ceil(seconds)));
}
