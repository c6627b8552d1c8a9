import {
  UpstreamFailure,
  type UpstreamFailureDetails,
  type UpstreamFailureKind,
} from '../../features/inference/upstream.ts';
import { callerDetails } from './sanitize-provider-message.ts';

/** What a status of 400 or more means where nothing in the body tells it better. */
export function kindOfStatus(status: number): UpstreamFailureKind {
  if (status === 400 || status === 413 || status === 422) return 'caller';
  if (status === 401 || status === 403) return 'authentication';
  if (status === 402) return 'billing';
  if (status === 404) return 'unknown-model';
  if (status === 429) return 'rate-limited';
  return status === 408 ? 'timeout' : 'server';
}

interface Told {
  /** For the log: holds nothing of the request, nor of the provider's words. */
  message: string;
  status: number;
  /** The provider's own words; the caller is told them, made fit, of a call that is the caller's fault. */
  words: string | undefined;
  retryAfterSeconds: number | undefined;
}

/** A call that a provider refused, for providers whose words may be shown. */
export function refusal(
  kind: UpstreamFailureKind,
  { message, status, words, retryAfterSeconds }: Told,
): UpstreamFailure {
  if (kind === 'caller') {
    const details = callerDetails(status, words || 'The provider refused the request.');
    return new UpstreamFailure(kind, message, details);
  }
  const details: UpstreamFailureDetails = { status };
  const isToBeWaitedFor = kind === 'rate-limited' || kind === 'server';
  if (isToBeWaitedFor && retryAfterSeconds !== undefined) details.retryAfterSeconds = retryAfterSeconds;
  return new UpstreamFailure(kind, message, details);
}

/** A call that nobody could answer: the provider did not say of what. */
export function namelessCall(
  provider: string,
  { of = 'tool' }: { of?: 'tool' | 'function' } = {},
): UpstreamFailure {
  return new UpstreamFailure('broken', `${provider} called a ${of} without naming it`);
}

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
