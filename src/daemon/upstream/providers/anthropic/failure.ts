import { ownValue } from '../../../../shared/json/json-object.ts';
import type { UpstreamFailure, UpstreamFailureKind } from '../../../features/upstreams/upstream.ts';
import { refusalIn, sentenceOf } from '../../error-sentence.ts';
import { type Json, objectOf, textOf } from '../../json.ts';
import { isHtmlRefusal } from '../../response-body.ts';
import { statusIn, vendorError } from '../../vendor-errors.ts';
import { anthropicField } from '../field-at-fault.ts';
import { accountFailure, kindOfStatus, refusalFailure } from '../provider-failures.ts';
import { retryAfterSeconds, waitIn } from '../retry-after.ts';

/** Source: Anthropic's API reference, "Errors". */
const kindByType: Record<string, UpstreamFailureKind> = {
  invalid_request_error: 'caller',
  request_too_large: 'caller',
  authentication_error: 'authentication',
  permission_error: 'forbidden',
  billing_error: 'billing',
  not_found_error: 'unknown-model',
  rate_limit_error: 'rate-limited',
  timeout_error: 'server',
  api_error: 'server',
  overloaded_error: 'server',
};

/** Interprets an error response: `{type:"error", error:{type, message}}`, or a page of a proxy in front of the API. */
export function anthropicFailure(
  name: string,
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  const error = errorOf(refusalIn(status, body));
  const kind = isHtmlRefusal(status, body) ? 'server' : kindOf(status, error);
  return refusalFailure(kind, {
    message: `${name} answered ${status} ${loggableType(error)}`.trimEnd(),
    status,
    providerMessage: textOf(error.message),
    retryAfterSeconds: retryAfterSeconds(headers) ?? waitIn(error),
    code: loggableType(error),
    hasCode: statusIn(error.code) !== undefined,
    field: anthropicField(textOf(error.message) ?? ''),
  });
}

/** Interprets an `error` event in the middle of a stream. */
export function anthropicStreamFailure(name: string, event: Json): UpstreamFailure {
  const error = errorOf(event);
  const code = loggableType(error);
  const providerMessage = textOf(error.message);
  return refusalFailure(kindOf(statusIn(error.code) ?? 500, error), {
    message: `${name} broke off with ${code || 'an error'}`,
    status: undefined,
    providerMessage,
    retryAfterSeconds: waitIn(error),
    code,
    hasCode: statusIn(error.code) !== undefined,
    field: anthropicField(providerMessage ?? ''),
  });
}

/** The error in a body or event: a vendor's own, a text, or the API's. */
function errorOf(json: Json | undefined): Json {
  if (json === undefined) return {};
  const vendor = json.error === undefined ? vendorError(json) : undefined;
  return { ...(vendor ? { code: vendor.status } : objectOf(json.error)), message: sentenceOf(json) };
}

function kindOf(status: number, error: Json): UpstreamFailureKind {
  // A closed or empty account is reported as a bad request.
  const ofAccount = accountFailure(status, textOf(error.message) ?? '');
  return ofAccount ?? ownValue(kindByType, error.type) ?? kindOfStatus(status);
}

/** The error type if it looks like one: logs must not contain anything of the request. */
function loggableType(error: Json): string {
  const type = textOf(error.type) ?? '';
  return /^[a-z_]{1,40}$/.test(type) ? type : '';
}
