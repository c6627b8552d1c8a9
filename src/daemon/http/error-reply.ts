import type { Endpoint, Surface } from '../../shared/contract/endpoint.ts';
import { statusOf } from '../../shared/contract/error-reply.ts';
import { type ApiError, failures } from '../../shared/errors.ts';
import { maskText } from '../../shared/masking/mask-text.ts';

/** An error response, ready to be written. */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface ErrorContext {
  surface: Surface;
  requestId: string;
  unauthorizedType?: Endpoint['unauthorizedType'];
}

/** Renders an error in the format of its API. Nothing else writes errors. */
export function errorAnswer(error: ApiError, context: ErrorContext): ErrorAnswer {
  const status = statusOf(error, context.surface);
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
  };
  if (error.retryAfter !== undefined) headers['retry-after'] = error.retryAfter;
  const shouldRetry = shouldRetryOf(error, status);
  if (shouldRetry !== undefined) headers['x-should-retry'] = shouldRetry;
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  Object.assign(headers, error.headers);
  return { status, headers, body: JSON.stringify(errorBody(error, status, context)) };
}

/**
 * Client libraries retry some statuses on their own. This stops them where a retry cannot succeed, and has them retry a key's
 * rate limit, which has the status of other limits.
 */
function shouldRetryOf(error: ApiError, status: number): 'true' | 'false' | undefined {
  const isRetryable = failures[error.code].retry === 'after-waiting' || error.retryAfterSeconds !== undefined;
  if (!isRetryable) return 'false';
  const isRetriedAnyway = status === 408 || status === 409 || status === 429 || status >= 500;
  return isRetriedAnyway ? undefined : 'true';
}

function errorBody(error: ApiError, status: number, context: ErrorContext): unknown {
  switch (context.surface) {
    case 'v1':
      return { error: v1Error(error, context) };
    case 'messages':
      return messagesError(error, status, context);
    case 'site':
      return siteBody(error, status);
  }
}

/** Types by status. Source: Anthropic's API reference, "Errors". */
const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function messagesError(error: ApiError, status: number, { requestId }: ErrorContext): unknown {
  const type = messagesTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const said = status === 400 && error.param !== null ? fieldFirst(error, error.param) : error.message;
  // A caller may have put a key where something else belongs.
  const message = maskText(said);
  const details = {
    ...error.extra,
    error_code: error.reportedCode,
    ...(error.param !== null && { param: error.param }),
  };
  return { type: 'error', error: { type, message, details }, request_id: requestId };
}

/** As in Anthropic's own errors the message starts with the field at fault, and names it once: `messages.0.content: …`. */
function fieldFirst({ message, cause }: ApiError, param: string): string {
  const field = dotted(param);
  if (message.startsWith(field.split('.', 1)[0] ?? '')) return message;
  const named = `\`${param}\` `;
  if (!message.startsWith(named)) return `${field}: ${message}`;
  // With a cause, the words are a provider's.
  return cause === undefined ? `${field}: This ${message.slice(named.length)}` : message;
}

/** `messages[0].content` as `messages.0.content`. */
function dotted(path: string): string {
  return path.replace(/\[(\d+)\]/g, '.$1');
}

/**
 * An error as a WebSocket frame, with the response headers as a member. Source: the Open Responses
 * specification, WebSocket transport.
 */
export function errorFrame(error: ApiError, context: Omit<ErrorContext, 'surface'>): string {
  const { retryAfter } = error;
  const headers = { ...error.headers, ...(retryAfter !== undefined && { 'retry-after': retryAfter }) };
  const hasHeaders = Object.keys(headers).length > 0;
  const body = { ...v1Error(error, context), ...frameType(error), ...(hasHeaders && { headers }) };
  return JSON.stringify({ type: 'error', status: frameStatus(error), error: body });
}

/** On a socket, clients start a new chain after a 400 with this code; a 404 would mean the endpoint. */
function isLostContext({ code }: ApiError): boolean {
  return code === 'previous_response_not_found';
}

function frameStatus(error: ApiError): number {
  return isLostContext(error) ? failures.invalid_request.status : error.status;
}

function frameType(error: ApiError): { type?: string } {
  return isLostContext(error) ? { type: failures.invalid_request.type } : {};
}

function v1Error(error: ApiError, { requestId, unauthorizedType }: Omit<ErrorContext, 'surface'>): object {
  const { type } = error;
  const members = {
    type: error.status === 401 ? (unauthorizedType ?? type) : type,
    code: error.reportedCode,
    // A caller may have put a key where something else belongs.
    message: maskText(error.message),
    param: error.param,
    request_id: requestId,
  };
  // Extra members come last and replace none of these.
  return { ...members, ...error.extra, ...members };
}

const siteSentences = new Map([
  [401, 'Unauthenticated.'],
  [403, 'This action is unauthorized.'],
  [404, 'Not found.'],
]);

function siteBody(error: ApiError, status: number): unknown {
  const named = error.extra?.errors;
  if (status === 422) {
    const errors = named ?? { [error.param ?? 'body']: [maskText(error.message)] };
    return { message: 'The given data was invalid.', errors };
  }
  const message = siteSentences.get(status) ?? maskText(error.message);
  // What a credential lacks for one member of the request.
  return status === 403 && named !== undefined ? { message, errors: named } : { message };
}

/** Describes an error for the log: its kind and location, without user data. */
export function describeFailure(thrown: unknown, depth = 0): object {
  if (!(thrown instanceof Error)) return { thrown: typeof thrown };
  const { name, stack = '', cause } = thrown;
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    name,
    code: (thrown as { code?: unknown }).code,
    // A JSON parser quotes its input in its message.
    message: thrown instanceof SyntaxError ? undefined : thrown.message.slice(0, 500),
    stack: frames.slice(0, 12).join('\n'),
    cause: cause === undefined || depth > 3 ? undefined : describeFailure(cause, depth + 1),
  };
}
