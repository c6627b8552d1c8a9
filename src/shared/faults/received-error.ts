import { ApiError, type ErrorCode, type ErrorDetails, failures, isErrorCode } from '../errors.ts';
import { isObject, parseObject } from '../json/json-object.ts';
import { missingResource } from './not-found.ts';

interface Received {
  /** The code as sent; a newer service may use codes that `ErrorCode` lacks. */
  sentCode: string;
  sentStatus: number;
  sentType: string;
  requestId: string | undefined;
  path: string | undefined;
}

/** An error returned by the service. `code` is always one of the table; an unknown one is mapped by status. */
export class ReceivedError extends ApiError {
  readonly sentCode: string;
  readonly sentStatus: number;
  readonly sentType: string;
  readonly requestId: string | undefined;
  /** The path template of the endpoint that was called: `/v1/threads/{id}`. */
  readonly path: string | undefined;

  constructor(code: ErrorCode, details: ErrorDetails, received: Received) {
    super(code, details);
    this.name = 'ReceivedError';
    this.sentCode = received.sentCode;
    this.sentStatus = received.sentStatus;
    this.sentType = received.sentType;
    this.requestId = received.requestId;
    this.path = received.path;
  }

  override get status(): number {
    return this.sentStatus;
  }

  override get type(): string {
    return this.sentType;
  }
}

/**
 * Parses an error of either surface, or of something else at that address, such as a proxy. A 404 that does not say what is
 * missing, as all of the site API, names it by the path and its parameters.
 */
export function receivedError(
  status: number,
  headers: Record<string, string>,
  bodyText: string,
  path?: string,
  params: Record<string, unknown> = {},
): ReceivedError {
  const body = parseObject(bodyText);
  const error = isObject(body?.error) ? body.error : {};
  const { type, code, message, param, request_id, ...extra } = error;
  const sentCode = textOf(code) ?? '';
  const nearest = isErrorCode(sentCode) ? sentCode : codeOfStatus(status);
  const sentence = textOf(message) ?? siteMessage(status, body);
  const named = path && sentence === failures.not_found.message ? missingResource(path, params) : undefined;
  const details: ErrorDetails = {
    message: named ?? sentence ?? `The host returned status ${status} without a message.`,
    param: textOf(param) ?? Object.keys(isObject(body?.errors) ? body.errors : {})[0] ?? null,
  };
  const retryAfterSeconds = Number(headers['retry-after'] ?? Number.NaN);
  if (Number.isFinite(retryAfterSeconds)) details.retryAfterSeconds = retryAfterSeconds;
  if (Object.keys(extra).length > 0) details.extra = extra;
  details.headers = headers;
  return new ReceivedError(nearest, details, {
    sentCode: sentCode || nearest,
    sentStatus: status,
    sentType: textOf(type) ?? failures[nearest].type,
    requestId: textOf(request_id) ?? headers['x-request-id'],
    path,
  });
}

/** `{message, errors: {field: [sentence]}}` as one sentence; the message of a 422 is always the same and says nothing. */
function siteMessage(status: number, body: Record<string, unknown> | undefined): string | undefined {
  const message = textOf(body?.message);
  const sentences = Object.values(isObject(body?.errors) ? body.errors : {}).flat();
  const details = sentences.filter((sentence) => typeof sentence === 'string').join(' ');
  if (message === undefined || details === '') return message;
  return status === 422 ? details : `${message} ${details}`;
}

const codesByStatus: Record<number, ErrorCode> = {
  401: 'unauthenticated',
  402: 'insufficient_balance',
  403: 'permission',
  404: 'not_found',
  408: 'request_timeout',
  409: 'conflict',
  413: 'limit_exceeded',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  431: 'headers_too_large',
  502: 'upstream_failed',
  503: 'unavailable',
  504: 'unavailable',
};

function codeOfStatus(status: number): ErrorCode {
  return codesByStatus[status] ?? (status >= 500 ? 'server_error' : 'invalid_request');
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
