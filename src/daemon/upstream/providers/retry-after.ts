import { isObject, type Json, objectsOf, textOf } from '../json.ts';

/** Longer waits are not useful; some providers send days, or nonsense. */
const retryAfterSecondsMax = 60;

/**
 * How long a provider asks callers to wait, in whole seconds from 0 to `retryAfterSecondsMax`; undefined if it does not
 * say. Source: RFC 9110, 10.2.3; `retry-after-ms` is OpenAI's and more precise, and Azure has it by another name
 * (microsoft/kernel-memory#795).
 */
export function retryAfterSeconds(headers: Record<string, string>): number | undefined {
  const ms = headers['retry-after-ms'] ?? headers['x-ms-retry-after-ms'];
  if (ms !== undefined && number.test(ms)) return clampSeconds(Number(ms) / 1000);
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  const seconds = secondsOf(value);
  if (seconds !== undefined) return clampSeconds(seconds);
  // Dates start with a weekday; Date.parse would accept many other texts.
  const until = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(until)) return undefined;
  // Relative to the provider's clock if it is sent: two clocks rarely agree.
  const providerNow = Date.parse(headers.date ?? '');
  return clampSeconds((until - (Number.isNaN(providerNow) ? Date.now() : providerNow)) / 1000);
}

/**
 * The wait in an error: of google.rpc.RetryInfo, whose `retryDelay` is a duration, or a number of seconds by the names of
 * OpenAI's subscriptions and of routers. Source: raine/claude-code-proxy#139.
 */
export function waitIn(error: Json): number | undefined {
  const metadata = isObject(error.metadata) ? error.metadata : {};
  const waits = [
    ...objectsOf(error.details).map(({ retryDelay }) => textOf(retryDelay)),
    ...[error, metadata].flatMap((from) => [
      from.retry_after,
      from.retry_after_seconds,
      from.resets_in_seconds,
    ]),
  ];
  for (const wait of waits) {
    const seconds = secondsOf(typeof wait === 'number' ? String(wait) : (textOf(wait) ?? ''));
    if (seconds !== undefined) return clampSeconds(seconds);
  }
  return undefined;
}

/**
 * The wait in the sentence of a rate limit, which is all that is said in a stream, or behind a router that drops headers. Source:
 * openai/codex#303, openai/codex#3764, icereed/paperless-gpt#814, lidge-jun/opencodex#5041, Kilo-Org/kilocode#14269.
 */
export function waitSaid(sentence: string): number | undefined {
  const [, amount = '', unit = ''] = saidWait.exec(sentence) ?? [];
  const seconds = secondsOf(amount);
  if (seconds === undefined) return undefined;
  return clampSeconds(seconds * (unitSeconds[unit.toLowerCase()] ?? 1));
}

const number = /^\d+(?:\.\d+)?$/;
const saidWait =
  /\b(?:(?:try again|retry|resets?) (?:in|after)|wait) ((?:\d+h)?(?:\d+m(?!s))?(?:\d+(?:\.\d+)?(?:ms|s)?)?)(?: (millisecond|second|minute|hour|day)s?\b)?/i;
const unitSeconds: Record<string, number> = { millisecond: 0.001, minute: 60, hour: 3600, day: 86_400 };

/** A number of seconds, or a duration as Go writes it, such as `1m30.5s` (duolahypercho/codex-router#573). */
function secondsOf(text: string): number | undefined {
  if (number.test(text)) return Number(text);
  const ms = /^(\d+(?:\.\d+)?)ms$/.exec(text);
  if (ms) return Number(ms[1]) / 1000;
  const parts = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?$/.exec(text);
  if (!parts || text === '') return undefined;
  const [, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
  return hours * 3600 + minutes * 60 + seconds;
}

function clampSeconds(seconds: number): number {
  return Math.min(retryAfterSecondsMax, Math.max(0, Math.ceil(seconds)));
}
