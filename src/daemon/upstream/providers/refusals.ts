import {
  UpstreamFailure,
  type UpstreamFailureDetails,
  type UpstreamFailureKind,
} from '../../features/inference/upstream.ts';
import { callerDetails } from './provider-words.ts';

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
