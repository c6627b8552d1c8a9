import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { statusOf } from '../../shared/contract/error-reply.ts';
import { ApiError, failures } from '../../shared/errors.ts';

/** A failure ready to be written. */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface ErrorContext {
  surface: Endpoint['surface'];
  requestId: string;
  unauthorizedType?: Endpoint['unauthorizedType'];
}

/** The only place that writes either shape of a failure. */
export function errorAnswer(error: ApiError, context: ErrorContext): ErrorAnswer {
  const status = statusOf(error.code, context.surface);
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
  };
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) headers['retry-after'] = retryAfter;
  // Client libraries repeat some statuses by themselves; this keeps them from repeating what cannot go better.
  const canGoBetter = failures[error.code].retry === 'after-waiting' || error.retryAfterSeconds !== undefined;
  if (!canGoBetter) headers['x-should-retry'] = 'false';
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  const body = context.surface === 'v1' ? { error: v1Error(error, context) } : siteBody(error, status);
  return { status, headers, body: JSON.stringify(body) };
}

/**
 * A failure as one frame of a WebSocket; what a header would say is a member of it. Source: the Open Responses
 * specification, WebSocket transport.
 */
export function errorFrame(error: ApiError, context: Omit<ErrorContext, 'surface'>): string {
  const retryAfter = retryAfterOf(error);
  const headers = retryAfter === undefined ? undefined : { 'retry-after': retryAfter };
  const told = { ...v1Error(error, context), ...(headers && { headers }) };
  return JSON.stringify({ type: 'error', status: error.status, error: told });
}

/** In whole seconds, as headers tell it. */
function retryAfterOf({ retryAfterSeconds }: ApiError): string | undefined {
  return retryAfterSeconds === undefined ? undefined : String(Math.max(0, Math.ceil(retryAfterSeconds)));
}

function v1Error(error: ApiError, { requestId, unauthorizedType }: Omit<ErrorContext, 'surface'>): object {
  const { type } = failures[error.code];
  const told = {
    type: error.status === 401 ? (unauthorizedType ?? type) : type,
    code: error.code,
    message: error.message,
    param: error.param,
    request_id: requestId,
  };
  // What a failure adds comes last, and takes the place of none of these.
  return { ...told, ...error.extra, ...told };
}

const siteSentences = new Map([
  [401, 'Unauthenticated.'],
  [403, 'This action is unauthorized.'],
  [404, 'Not found.'],
]);

function siteBody(error: ApiError, status: number): unknown {
  if (status !== 422) return { message: siteSentences.get(status) ?? error.message };
  const errors = error.extra?.errors ?? { [error.param ?? 'body']: [error.message] };
  return { message: 'The given data was invalid.', errors };
}

/** What a thrown thing is told as: what is not an ApiError tells nothing. */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError('server_error', { cause: thrown });
}

/** What the log may know of a failure: where and what kind, not what was being processed. */
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
