import { ApiError } from '../../../shared/errors.ts';
import { NetworkFailure } from '../../base/world.ts';
import type { UpstreamFailure, UpstreamFailureKind } from '../upstreams/upstream.ts';
import { type Attempt, attemptView } from './contract.ts';

/** An attempt that failed at the provider, and how. */
export interface FailedAttempt {
  attempt: Attempt;
  failure: UpstreamFailure;
  /** Whether the account there is the caller's own. */
  isOwn: boolean;
}

const retryAfterSecondsDefault = 5;
const retryAfterSecondsMax = 60;

const errorCodes: Readonly<Record<UpstreamFailureKind, string>> = {
  caller: 'invalid_request',
  'unknown-model': 'model_not_found',
  authentication: 'authentication',
  forbidden: 'forbidden',
  billing: 'billing',
  'rate-limited': 'rate_limited',
  server: 'server_error',
  timeout: 'timeout',
  network: 'network',
  broken: 'broken_answer',
  empty: 'empty_answer',
  filtered: 'content_filter',
};

const descriptions: Readonly<Record<string, string>> = {
  authentication: 'rejected the API key: check it',
  forbidden: 'does not let its account use the model',
  billing: 'reports that the account is out of credit: add credit there',
  rate_limited: 'is rate limited',
  model_not_found: 'does not have the model',
  server_error: 'failed',
  timeout: 'timed out',
  network: 'could not be reached',
  broken_answer: 'sent an incomplete or unreadable response',
  empty_answer: 'answered with nothing',
  content_filter: 'filtered its answer',
};

const wrongAddress = 'has no API at the configured address: check its base_url';

/** The error code of a failed attempt. */
export function errorCodeOf(failure: UpstreamFailure): string {
  return errorCodes[failure.kind];
}

/** The error for a request that the provider rejected as invalid: every other provider would, too. */
export function invalidRequest(failure: UpstreamFailure, attempts: readonly Attempt[]): ApiError {
  const { code = 'invalid_request', exactCode, param = null, publicMessage } = failure.details;
  const isLimit = code === 'invalid_request' && isTooLarge(failure);
  return new ApiError(isLimit ? 'limit_exceeded' : code, {
    reportedCode: exactCode,
    param,
    message: publicMessage ?? 'The provider rejected the request as invalid.',
    extra: { attempts: attempts.map(attemptView) },
    cause: failure,
  });
}

const sentenceCharsMax = 300;

/** Why an attempt failed, without anything of the request: for traces. */
export function sentenceOf({ message, details }: UpstreamFailure): string {
  const { cause, publicMessage } = details;
  const text = (cause instanceof NetworkFailure && cause.reason) || publicMessage || message;
  return text.slice(0, sentenceCharsMax).toWellFormed();
}

/** The error when every route failed: `rate_limited` or `model_not_found` when all agree, else `upstream_failed`. */
export function allRoutesFailed(
  model: string,
  failed: readonly FailedAttempt[],
  attempts: readonly Attempt[],
): ApiError {
  const failures = failed.map(({ failure }) => failure);
  const every = (kind: UpstreamFailureKind) =>
    failures.length > 0 && failures.every((failure) => failure.kind === kind);
  const headers = failed.findLast(({ isOwn }) => isOwn)?.failure.details.rateLimits;
  const details = {
    extra: { attempts: attempts.map(attemptView) },
    cause: failures.at(-1),
    ...(headers && { headers }),
  };
  if (every('rate-limited')) {
    return new ApiError('rate_limited', {
      message: `Every provider of ${model} is rate limited.`,
      retryAfterSeconds: shortestWait(failures),
      ...details,
    });
  }
  if (every('unknown-model')) {
    const providers = attempts.map(({ provider }) => provider).join(', ');
    return new ApiError('model_not_found', {
      param: 'model',
      message: `The model ${JSON.stringify(model)} does not exist at ${providers}.`,
      ...details,
    });
  }
  const reasons = new Map(failed.map(({ attempt, failure }) => [attempt, reasonOf(failure)]));
  const summaries = attempts.map((attempt) => summaryOf(attempt, reasons.get(attempt)));
  const isOverload = failures.length > 0 && failures.every(isOverloaded);
  return new ApiError('upstream_failed', {
    message: `Every provider tried failed: ${[...new Set(summaries)].join('; ')}.`,
    ...(isOverload && { providerCondition: 'overloaded' }),
    ...(failures.every((failure) => isOverloaded(failure) || saysWhen(failure)) && {
      retryAfterSeconds: shortestWait(failures),
    }),
    ...details,
  });
}

/** In whole seconds, of the provider that is available first. */
function shortestWait(failures: readonly UpstreamFailure[]): number {
  const waits = failures.map((failure) => failure.details.retryAfterSeconds ?? retryAfterSecondsDefault);
  return Math.min(retryAfterSecondsMax, Math.max(1, Math.ceil(Math.min(...waits))));
}

/** Whether a provider that failed says when to ask again, whatever its status. */
function saysWhen({ kind, details }: UpstreamFailure): boolean {
  return kind === 'server' && details.retryAfterSeconds !== undefined;
}

/** Whether a provider is healthy but has no capacity now. 529 and `overloaded_error` are Anthropic's. */
function isOverloaded({ kind, details: { status, providerCode } }: UpstreamFailure): boolean {
  return kind === 'rate-limited' || status === 503 || status === 529 || providerCode === 'overloaded_error';
}

function isTooLarge({ details: { status, providerCode } }: UpstreamFailure): boolean {
  return status === 413 || providerCode === 'request_too_large';
}

function summaryOf({ provider, status, errorCode }: Attempt, reason: string | undefined): string {
  const isWrongAddress =
    (status === 404 || status === 405) &&
    errorCode === 'server_error' &&
    /^(not found|method not allowed)?$/i.test(reason ?? '');
  const what = isWrongAddress ? wrongAddress : (descriptions[errorCode ?? ''] ?? 'failed');
  return `${provider} ${what}${reason ? `: ${reason}` : ''}${status >= 400 ? ` (${status})` : ''}`;
}

/** Why the network could not reach a provider, or what the provider itself says about its failure. */
function reasonOf({ kind, details: { cause, publicMessage } }: UpstreamFailure): string | undefined {
  if (cause instanceof NetworkFailure) return cause.reason;
  return kind === 'server' ? publicMessage?.replace(/\.$/, '') : undefined;
}
