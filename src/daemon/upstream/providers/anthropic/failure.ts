import { ownValue } from '../../../../shared/own-value.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../../../features/inference/upstream.ts';
import { type Json, objectOf, parseObject, textOf } from '../../json.ts';
import { standsBefore } from '../../response-body.ts';
import { kindOfStatus, refusal, retryAfterSeconds } from '../provider-failures.ts';
import { ownWords } from '../sanitize-provider-message.ts';

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
  const words = textOf(error.message);
  return refusal(kind, { message, status, words, retryAfterSeconds: retryAfterSeconds(headers) });
}

/** An `error` event in a stream that had begun well. */
export function streamFailure(name: string, event: Json): UpstreamFailure {
  const error = objectOf(event.error) ?? {};
  const kind = kindOf(undefined, error);
  const message = `${name} broke off with ${shortType(error) || 'an error'}`;
  if (kind !== 'caller') return new UpstreamFailure(kind, message);
  return refusal(kind, { message, status: 400, words: textOf(error.message), retryAfterSeconds: undefined });
}

function kindOf(status: number | undefined, error: Json): UpstreamFailureKind {
  // An empty account is told as a bad request.
  if (/credit balance is too low/i.test(ownWords(textOf(error.message) ?? ''))) return 'billing';
  return ownValue(kinds, error.type) ?? kindOfStatus(status ?? 500);
}

/** The type of an error, if it looks like one: it goes to logs, which must hold nothing of the request. */
function shortType(error: Json): string {
  const type = textOf(error.type) ?? '';
  return /^[a-z_]{1,40}$/.test(type) ? type : '';
}
