import { ApiError } from '../../../shared/errors.ts';
import { NetworkFailure } from '../../world.ts';
import type { UpstreamFailure, UpstreamFailureKind, Wire } from '../inference/index.ts';
import { paramFor } from './caller-param.ts';

/** One try to have a call answered, in its wire form. `status` is the provider's, 0 when it gave none. */
export interface Attempt {
  provider: string;
  model: string;
  status: number;
  error_code: string | null;
  ms: number;
}

const retryAfterSecondsDefault = 5;
const retryAfterSecondsMax = 60;

const errorCodes: Readonly<Record<UpstreamFailureKind, string>> = {
  caller: 'invalid_request',
  'unknown-model': 'model_not_found',
  authentication: 'authentication',
  billing: 'billing',
  'rate-limited': 'rate_limited',
  server: 'server_error',
  timeout: 'timeout',
  network: 'network',
  broken: 'broken_answer',
};

const sentences: Readonly<Record<string, string>> = {
  authentication: 'did not accept the key: check it',
  billing: 'says that the account is out of money: add credit there',
  rate_limited: 'limits the rate',
  model_not_found: 'has no such model',
  server_error: 'failed',
  timeout: 'did not answer in time',
  network: 'could not be reached',
  broken_answer: 'broke off its answer, or gave one that cannot be read',
};

const addressSentence = 'has nothing at the address that it is called at: check its base_url';

/** Whether not even an API answered. */
function isAddress(status: number, code: string | null): boolean {
  return status === 404 && code === 'server_error';
}

/** The code of an attempt that failed. */
export function errorCodeOf(failure: UpstreamFailure): string {
  return errorCodes[failure.kind];
}

/** The provider found fault with the request itself: so would any other. */
export function callerFault(failure: UpstreamFailure, wire: Wire, attempts: readonly Attempt[]): ApiError {
  const { code = 'invalid_request', publicMessage } = failure.details;
  // Few providers name what is too long; it is always this.
  const param = failure.details.param ?? (code === 'context_length_exceeded' ? 'input' : null);
  return new ApiError(code, {
    param: paramFor(wire, param),
    message: publicMessage ?? 'The provider found the request not valid.',
    extra: { attempts },
    cause: failure,
  });
}

/** An attempt that a provider failed, and how. */
export interface FailedAttempt {
  attempt: Attempt;
  failure: UpstreamFailure;
}

/** What the caller is told when no route answered. */
export function allFailed(
  model: string,
  failed: readonly FailedAttempt[],
  attempts: readonly Attempt[],
): ApiError {
  const failures = failed.map(({ failure }) => failure);
  const every = (kind: UpstreamFailureKind) =>
    failures.length > 0 && failures.every((failure) => failure.kind === kind);
  const cause = failures.at(-1);
  if (every('rate-limited')) {
    const waits = failures.map(({ details }) => details.retryAfterSeconds ?? retryAfterSecondsDefault);
    return new ApiError('rate_limited', {
      message: `Every provider of ${model} limits the rate.`,
      retryAfterSeconds: Math.min(retryAfterSecondsMax, Math.max(1, Math.ceil(Math.min(...waits)))),
      extra: { attempts },
      cause,
    });
  }
  if (every('unknown-model')) {
    return new ApiError('model_not_found', {
      param: 'model',
      message: `There is no model “${model}”: ${attempts.map(({ provider }) => provider).join(', ')} does not know it.`,
      extra: { attempts },
      cause,
    });
  }
  const reasons = new Map(failed.map(({ attempt, failure }) => [attempt, reasonOf(failure)]));
  const told = attempts.map((attempt) => {
    const { provider, status, error_code: code } = attempt;
    const what = isAddress(status, code) ? addressSentence : (sentences[code ?? ''] ?? 'failed');
    const why = reasons.get(attempt);
    return `${provider} ${what}${why ? `: ${why}` : ''}${status > 0 ? ` (${status})` : ''}`;
  });
  return new ApiError('upstream_failed', {
    message: `Every provider tried failed: ${[...new Set(told)].join('; ')}.`,
    extra: { attempts },
    cause,
  });
}

/** What kept the network from reaching a provider. */
function reasonOf({ details: { cause } }: UpstreamFailure): string | undefined {
  return cause instanceof NetworkFailure ? cause.reason : undefined;
}
