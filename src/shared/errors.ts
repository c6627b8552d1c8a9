/**
 * The one table of failures. Every error that leaves the daemon has a code of this table; status, type, advice on
 * retrying and the CLI's exit code are read off it. Source: part 7 of the service description.
 */

/** What a script can do about it, and the CLI's exit code for it. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  signIn: 4,
  pay: 5,
  tryLater: 6,
  partlyDone: 7,
  workerDied: 70,
  dataNeedsRepair: 78,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

interface Failure {
  status: number;
  type: string;
  /** The sentence that a person reads when the thrower has nothing more exact to say. */
  message: string;
  retry: 'no' | 'after-paying' | 'after-waiting';
  exit: ExitCode;
}

const refused = { retry: 'no', exit: exitCodes.refused } as const;
const fix = { retry: 'no', exit: exitCodes.failed } as const;
const signIn = { retry: 'no', exit: exitCodes.signIn } as const;
const pay = { retry: 'after-paying', exit: exitCodes.pay } as const;
const wait = { retry: 'after-waiting', exit: exitCodes.tryLater } as const;

export const failures = {
  invalid_request: { status: 400, type: 'invalid_request', message: 'The request is not valid.', ...fix },
  invalid_json: { status: 400, type: 'invalid_request', message: 'The body is not valid JSON.', ...fix },
  unknown_call_id: {
    status: 400,
    type: 'invalid_request',
    message: 'No function call has that call_id.',
    ...fix,
  },
  context_length_exceeded: {
    status: 400,
    type: 'invalid_request',
    message: 'The input is longer than the model accepts.',
    ...fix,
  },
  unsupported_value: {
    status: 400,
    type: 'invalid_request',
    message: 'The chosen model does not support this value.',
    ...fix,
  },
  unauthenticated: { status: 401, type: 'authentication', message: 'No valid key was given.', ...signIn },
  signed_out: {
    status: 401,
    type: 'authentication',
    message: 'This needs a login, not an API key.',
    ...signIn,
  },
  insufficient_balance: {
    status: 402,
    type: 'insufficient_balance',
    message: 'The balance does not cover the most that this request can cost.',
    ...pay,
  },
  websocket_connection_limit_reached: {
    status: 400,
    type: 'invalid_request',
    message: 'The socket was open for as long as one may be; open another to go on.',
    ...fix,
  },
  permission: { status: 403, type: 'permission', message: 'You may not do this.', ...refused },
  out_of_scope: { status: 403, type: 'permission', message: 'The key lacks the scope for this.', ...refused },
  host_not_allowed: { status: 403, type: 'permission', message: 'This Host is not served here.', ...refused },
  origin_not_allowed: {
    status: 403,
    type: 'permission',
    message: 'Web pages may not call this.',
    ...refused,
  },
  limit_reached: {
    status: 403,
    type: 'limit_reached',
    message: 'A limit set by the owner was hit.',
    ...refused,
  },
  not_found: { status: 404, type: 'not_found', message: 'Not found.', ...fix },
  model_not_found: { status: 404, type: 'not_found', message: 'There is no model by that name.', ...fix },
  previous_response_not_found: {
    status: 404,
    type: 'not_found',
    message: 'There is no stored response with that id.',
    ...fix,
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request',
    message: 'This path is not served by that method.',
    ...fix,
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request',
    message: 'The request took too long to arrive.',
    ...wait,
  },
  idempotency_conflict: {
    status: 409,
    type: 'conflict',
    message: 'This Idempotency-Key was used for another request.',
    ...fix,
  },
  conflict: { status: 409, type: 'conflict', message: 'It changed, or exists already.', ...fix },
  limit_exceeded: {
    status: 413,
    type: 'limit_exceeded',
    message: 'The request is larger than allowed.',
    ...fix,
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request',
    message: 'Send application/json in UTF-8.',
    ...fix,
  },
  rate_limited: { status: 429, type: 'rate_limited', message: 'Too many requests.', ...wait },
  headers_too_large: { status: 431, type: 'invalid_request', message: 'The headers are too large.', ...fix },
  server_error: { status: 500, type: 'server_error', message: 'Something went wrong here.', ...wait },
  model_error: { status: 500, type: 'model_error', message: 'The model failed to answer.', ...wait },
  upstream_failed: { status: 502, type: 'upstream_failed', message: 'Every provider tried failed.', ...wait },
  no_route: { status: 503, type: 'no_route', message: 'No provider can serve this request.', ...wait },
  unavailable: { status: 503, type: 'unavailable', message: 'Not available right now.', ...wait },
} as const satisfies Record<string, Failure>;

export type ErrorCode = keyof typeof failures;

export interface ErrorDetails {
  message?: string;
  /** The field or limit at fault, as the caller wrote it: `input[2].content`, `limits.spend_cap`. */
  param?: string | null;
  retryAfterSeconds?: number;
  /** Members that some errors add to the body, like `balance_usd`. */
  extra?: Record<string, unknown>;
  /** For the log; never on the wire. */
  cause?: unknown;
}

/** A failure that the caller is told: `message` is for people, `cause` for the log. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly extra: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.message ?? failures[code].message, { cause: details.cause });
    this.name = 'ApiError';
    this.code = code;
    this.param = details.param ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.extra = details.extra;
  }

  get status(): number {
    return failures[this.code].status;
  }

  get type(): string {
    return failures[this.code].type;
  }
}

/** Whether `code` is one that this program knows; a newer daemon may send others. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(failures, code);
}
