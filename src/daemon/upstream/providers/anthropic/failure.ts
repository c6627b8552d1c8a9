import {
  UpstreamFailure,
  type UpstreamFailureDetails,
  type UpstreamFailureKind,
} from '../../../features/inference/upstream.ts';
import { parseObject, standsBefore } from '../../answer-bodies.ts';
import { retryAfterSeconds } from '../../retry-after.ts';
import { type Json, objectOf, textOf } from '../json-value.ts';
import { callerDetails, ownWords } from '../provider-words.ts';

const kinds: Record<string, UpstreamFailureKind> = {
  invalid_request_error: 'caller',
  request_too_large: 'caller',
  authentication_error: 'authentication',
  permission_error: 'authentication',
  billing_error: 'billing',
  not_found_error: 'unknown-model',
  rate_limit_error: 'rate-limited',
  timeout_error: 'server',
  api_error: 'server',
  overloaded_error: 'server',
};

/** What a refusal means: `{type:"error", error:{type, message}}`, or whatever stands before the API. */
export function failureOf(
  name: string,
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  const error = objectOf(parseObject(body)?.error) ?? {};
  const kind = standsBefore(status, body) ? 'server' : kindOf(status, error);
  const message = `${name} answered ${status} ${shortType(error)}`.trimEnd();
  if (kind === 'caller') {
    const words = textOf(error.message) ?? 'The provider refused the request.';
    return new UpstreamFailure(kind, message, callerDetails(status, words));
  }
  const details: UpstreamFailureDetails = { status };
  const after = kind === 'rate-limited' || kind === 'server' ? retryAfterSeconds(headers) : undefined;
  if (after !== undefined) details.retryAfterSeconds = after;
  return new UpstreamFailure(kind, message, details);
}

/** An `error` event in a stream that had begun well. */
export function streamFailure(name: string, event: Json): UpstreamFailure {
  const error = objectOf(event.error) ?? {};
  const kind = kindOf(undefined, error);
  const message = `${name} broke off with ${shortType(error) || 'an error'}`;
  if (kind !== 'caller') return new UpstreamFailure(kind, message);
  const words = textOf(error.message) ?? 'The provider refused the request.';
  return new UpstreamFailure(kind, message, callerDetails(400, words));
}

function kindOf(status: number | undefined, error: Json): UpstreamFailureKind {
  // An empty account is told as a bad request.
  if (/credit balance is too low/i.test(ownWords(textOf(error.message) ?? ''))) return 'billing';
  const told = kinds[textOf(error.type) ?? ''];
  if (told !== undefined) return told;
  if (status === 400 || status === 413 || status === 422) return 'caller';
  if (status === 401 || status === 403) return 'authentication';
  if (status === 402) return 'billing';
  if (status === 404) return 'unknown-model';
  if (status === 429) return 'rate-limited';
  return status === 408 ? 'timeout' : 'server';
}

/** The type of an error, if it looks like one: it goes to logs, which must hold nothing of the request. */
function shortType(error: Json): string {
  const type = textOf(error.type) ?? '';
  return /^[a-z_]{1,40}$/.test(type) ? type : '';
}
