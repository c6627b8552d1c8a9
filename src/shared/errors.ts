/**
 * The table of errors. Every error the daemon returns has a code from this table, which defines its status, type, retry
 * advice and the CLI's exit code. Source: part 7 of the service description.
 */

/** Exit codes of the CLI. */
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
  /** The default message, used when the thrower has nothing more specific. */
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
    message: 'No function call has this call_id.',
    ...fix,
  },
  context_length_exceeded: {
    status: 400,
    type: 'invalid_request',
    message: 'The prompt is too long: it exceeds the context window of the model.',
    ...fix,
  },
  unsupported_value: {
    status: 400,
    type: 'invalid_request',
    message: 'The chosen model does not support this value.',
    ...fix,
  },
  guardrail_refused: {
    status: 400,
    type: 'invalid_request',
    message: 'A guardrail of this gateway refused the request.',
    ...refused,
  },
  too_many_questions: {
    status: 400,
    type: 'invalid_request',
    message: 'The decision has too many questions.',
    ...fix,
  },
  too_many_options: {
    status: 400,
    type: 'invalid_request',
    message: 'A question has too many options.',
    ...fix,
  },
  invalid_proof: {
    status: 400,
    type: 'invalid_request',
    message: 'The proof does not solve an open challenge.',
    ...fix,
  },
  invalid_name: {
    status: 400,
    type: 'invalid_request',
    message: 'The name must be 1 to 64 bytes of UTF-8 on one line.',
    ...fix,
  },
  unauthenticated: {
    status: 401,
    type: 'authentication',
    message: 'A valid API key or login is required.',
    ...signIn,
  },
  signed_out: {
    status: 401,
    type: 'authentication',
    message: 'This requires a login, not an API key.',
    ...signIn,
  },
  insufficient_balance: {
    status: 402,
    type: 'insufficient_balance',
    message: 'The balance does not cover the maximum cost of this request.',
    ...pay,
  },
  payment_required: {
    status: 402,
    type: 'payment_required',
    message: 'This request must be paid for.',
    ...pay,
  },
  payment_refused: {
    status: 402,
    type: 'payment_refused',
    message: 'The payment was not accepted.',
    ...pay,
  },
  agent_free_requests_used: {
    status: 402,
    type: 'insufficient_balance',
    message: 'The free requests of today are used up.',
    ...pay,
  },
  agent_free_budget_used: {
    status: 402,
    type: 'insufficient_balance',
    message: 'The free budget of today does not cover this request.',
    ...pay,
  },
  agent_free_tier_full: {
    status: 402,
    type: 'insufficient_balance',
    message: 'The free tier of all agents is used up for today.',
    ...pay,
  },
  agent_payment_required: {
    status: 402,
    type: 'insufficient_balance',
    message: 'This request is not part of the free tier.',
    ...pay,
  },
  agent_balance_too_low: {
    status: 402,
    type: 'insufficient_balance',
    message: 'The balance does not cover the maximum cost of this request.',
    ...pay,
  },
  websocket_connection_limit_reached: {
    status: 400,
    type: 'invalid_request',
    message: 'The socket reached its maximum lifetime; open a new one to continue.',
    ...fix,
  },
  permission: {
    status: 403,
    type: 'permission',
    message: 'You do not have permission to do this.',
    ...refused,
  },
  out_of_scope: { status: 403, type: 'permission', message: 'The key lacks the required scope.', ...refused },
  key_paused: { status: 403, type: 'permission', message: 'This key is paused.', ...refused },
  host_not_allowed: {
    status: 403,
    type: 'permission',
    message: 'This Host header is not allowed.',
    ...refused,
  },
  origin_not_allowed: {
    status: 403,
    type: 'permission',
    message: 'Requests from web pages are not allowed.',
    ...refused,
  },
  limit_reached: {
    status: 403,
    type: 'limit_reached',
    message: 'A limit of the key was reached.',
    ...refused,
  },
  not_found: { status: 404, type: 'not_found', message: 'Not found.', ...fix },
  model_not_found: { status: 404, type: 'not_found', message: 'No model has this name.', ...fix },
  not_an_agent: { status: 404, type: 'not_found', message: 'The caller is not an agent.', ...fix },
  previous_response_not_found: {
    status: 404,
    type: 'not_found',
    message: 'No stored response has this id.',
    ...fix,
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request',
    message: 'This path does not support this method.',
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
    message: 'This Idempotency-Key was already used for a different request.',
    ...fix,
  },
  conflict: { status: 409, type: 'conflict', message: 'The resource was changed or already exists.', ...fix },
  limit_exceeded: {
    status: 413,
    type: 'limit_exceeded',
    message: 'The request is larger than allowed.',
    ...fix,
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request',
    message: 'The content type must be application/json in UTF-8.',
    ...fix,
  },
  rate_limited: { status: 429, type: 'rate_limited', message: 'Too many requests.', ...wait },
  agent_daily_limit: {
    status: 429,
    type: 'rate_limited',
    message: 'The calls of today are used up.',
    ...wait,
  },
  signup_limit: {
    status: 429,
    type: 'rate_limited',
    message: 'Too many agents signed up from this network today.',
    ...wait,
  },
  headers_too_large: { status: 431, type: 'invalid_request', message: 'The headers are too large.', ...fix },
  server_error: { status: 500, type: 'server_error', message: 'Internal server error.', ...wait },
  model_error: { status: 500, type: 'model_error', message: 'The model failed to respond.', ...wait },
  upstream_failed: { status: 502, type: 'upstream_failed', message: 'All providers failed.', ...wait },
  // Transient only where a benched provider returns, which `Retry-After` then announces.
  no_route: {
    status: 503,
    type: 'no_route',
    message: 'No provider can serve this request.',
    retry: 'no',
    exit: exitCodes.tryLater,
  },
  signup_unavailable: { status: 503, type: 'unavailable', message: 'Sign-up is closed.', ...wait },
  unavailable: {
    status: 503,
    type: 'unavailable',
    message: 'The service is temporarily unavailable.',
    ...wait,
  },
} as const satisfies Record<string, Failure>;

export type ErrorCode = keyof typeof failures;

/** Why providers refused a call, where the code is less specific. */
export type ProviderCondition = 'overloaded';

export interface ErrorDetails {
  message?: string;
  /** The offending field or limit, as the caller wrote it: `input[2].content`, `limits.spend_cap`. */
  param?: string | null;
  retryAfterSeconds?: number;
  /** Reported in place of the code: a provider's more exact one, which has the same meaning to the gateway. */
  reportedCode?: string | undefined;
  /** Reported in place of the code's type. */
  type?: string;
  /** The status in a format that has its own for it: see `statusOf`. */
  providerCondition?: ProviderCondition;
  /** Additional headers of the response. */
  headers?: Readonly<Record<string, string>>;
  /** Additional members of the error body, such as `balance_usd`. */
  extra?: Record<string, unknown>;
  /** For the log only; never sent. */
  cause?: unknown;
}

/** An error returned to the caller. `message` is for people, `cause` only for the log. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  /** The code that the caller sees. */
  readonly reportedCode: string;
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly extra: Record<string, unknown> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly providerCondition: ProviderCondition | undefined;
  readonly #type: string | undefined;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(details.message ?? failures[code].message, { cause: details.cause });
    this.name = 'ApiError';
    this.code = code;
    this.reportedCode = details.reportedCode ?? code;
    this.param = details.param ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.extra = details.extra;
    this.headers = details.headers;
    this.providerCondition = details.providerCondition;
    this.#type = details.type;
  }

  get status(): number {
    return failures[this.code].status;
  }

  /** The header `Retry-After`, in whole seconds; undefined if waiting does not help. */
  get retryAfter(): string | undefined {
    const { retryAfterSeconds } = this;
    return retryAfterSeconds === undefined ? undefined : String(Math.max(0, Math.ceil(retryAfterSeconds)));
  }

  get type(): string {
    return this.#type ?? failures[this.code].type;
  }
}

/** The error itself, or for any other thrown value a `server_error` that reveals nothing. */
export function asApiError(thrown: unknown): ApiError {
  return thrown instanceof ApiError ? thrown : new ApiError('server_error', { cause: thrown });
}

/** Whether `code` is known to this version; a newer daemon may send others. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(failures, code);
}
