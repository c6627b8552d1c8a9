import { listOf } from '../../../../shared/json/json-object.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../../../features/upstreams/upstream.ts';
import { refusalIn, sentenceOf } from '../../error-sentence.ts';
import { countOf, type Json, objectOf, textOf } from '../../json.ts';
import { isHtmlRefusal } from '../../response-body.ts';
import { statusIn } from '../../vendor-errors.ts';
import { googleField } from '../field-at-fault.ts';
import { accountFailure, kindOfStatus, refusalFailure } from '../provider-failures.ts';
import { retryAfterSeconds, waitIn } from '../retry-after.ts';
import { unquotedStart } from '../sanitize-provider-message.ts';

/** Interprets an error response: `{error:{code, message, status, details[]}}`, sometimes in a list. */
export function googleFailure(
  name: string,
  status: number,
  headers: Record<string, string>,
  body: string,
): UpstreamFailure {
  if (isHtmlRefusal(status, body)) {
    return new UpstreamFailure('server', `${name} answered ${status} with a web page`, { status });
  }
  const json = refusalIn(status, body);
  const error = errorIn(json) ?? json ?? {};
  return toFailure(`${name} answered`, status, error, retryAfterSeconds(headers));
}

/** Interprets an `error` object in the middle of a stream; its code is an HTTP status. */
export function googleStreamFailure(name: string, error: Json): UpstreamFailure {
  return toFailure(`${name} broke off with`, countOf(error.code) ?? 500, error, undefined);
}

export function errorIn(value: unknown): Json | undefined {
  return objectOf(objectOf(value)?.error);
}

function toFailure(
  what: string,
  status: number,
  error: Json,
  retryAfter: number | undefined,
): UpstreamFailure {
  const providerMessage = sentenceOf(error);
  const message = `${what} ${status} ${loggableStatus(error)}`.trimEnd();
  const retryAfterSeconds = retryAfter ?? waitIn(error);
  return refusalFailure(kindOf(status, providerMessage, error), {
    message,
    status,
    providerMessage,
    retryAfterSeconds,
    code: loggableStatus(error),
    hasCode: statusIn(error.code) !== undefined,
    field: googleField(error, providerMessage),
  });
}

function kindOf(status: number, providerMessage: string, error: Json): UpstreamFailureKind {
  const start = unquotedStart(providerMessage);
  if (status === 402 || /enable billing|billing account|credits are depleted/i.test(start)) return 'billing';
  if (status === 400) {
    // A wrong key is reported as a bad request.
    const isKey = errorReasons(error).some((reason) => reason.startsWith('API_KEY_'));
    if (isKey || /api key (not valid|not found|expired|is invalid)/i.test(start)) return 'authentication';
    // Nothing that the caller could change, such as the location of the gateway.
    return error.status === 'FAILED_PRECONDITION' ? 'server' : 'caller';
  }
  // About a file in the request, not about the key.
  if (status === 403 && /\bpermission to access the file\b/i.test(start)) return 'caller';
  const isAccount =
    status === 403 &&
    errorReasons(error).some((reason) => /^(API_KEY_|SERVICE_DISABLED|CONSUMER_)/.test(reason));
  return isAccount ? 'authentication' : (accountFailure(status, providerMessage) ?? kindOfStatus(status));
}

function errorReasons(error: Json): string[] {
  return listOf(error.details).map((detail) => textOf(objectOf(detail)?.reason) ?? '');
}

/** The status name if it looks like one: logs must not contain anything of the request. */
function loggableStatus(error: Json): string {
  const name = textOf(error.status) ?? '';
  return /^[A-Z_]{1,40}$/.test(name) ? name : '';
}
