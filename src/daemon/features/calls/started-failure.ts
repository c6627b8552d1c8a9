import { ApiError, asApiError } from '../../../shared/errors.ts';
import { attemptView } from '../routing/index.ts';
import { UpstreamFailure } from '../upstreams/upstream.ts';
import type { CallDeps } from './call-deps.ts';
import { cancellationError, settleReasonOf } from './cancellation.ts';
import type { SettleReason } from './meter.ts';
import { errorType, type StartedFailure } from './renderer.ts';
import type { StartedCall } from './started-call.ts';

interface Failed {
  /** For the caller, in an answer that has started. */
  failure: StartedFailure;
  /** For the caller, in place of an answer. */
  error: ApiError;
  reason: SettleReason;
}

/** The provider's failure; undefined if the call was canceled or failed here. */
export function providersFailure(started: StartedCall, cause: unknown): UpstreamFailure | undefined {
  return !started.canceled() && cause instanceof UpstreamFailure ? cause : undefined;
}

/** Explains the failure of an answer after its start to the caller and the log, and how to settle the call. */
export function explainFailure({ log }: Pick<CallDeps, 'log'>, started: StartedCall, cause: unknown): Failed {
  const upstream = providersFailure(started, cause);
  const error = errorOf(started, cause);
  const { code, message, status } = error;
  if (code === 'server_error') log.warn({ err: cause }, 'an answer failed');
  const own = upstream && providerCode(upstream);
  const failure: StartedFailure = { type: errorType(code), code: own ?? code, message, status };
  return { failure, error, reason: settleReasonOf(started.canceled(), error) };
}

function errorOf(started: StartedCall, error: unknown): ApiError {
  const canceled = started.canceled();
  if (canceled) return cancellationError(canceled);
  if (!(error instanceof UpstreamFailure)) return asApiError(error);
  const { answer, route } = started;
  const explained = answer.kind === 'stream' && answer.explain ? answer.explain(error) : error;
  const { publicMessage } = explained.details;
  const code = providerCode(error);
  const { provider } = route;
  const message = publicMessage || `${whatFailed(error, provider)}${code ? ` (${code})` : ''}.`;
  return new ApiError(error.kind === 'rate-limited' ? 'rate_limited' : 'upstream_failed', {
    message,
    extra: { attempts: started.meter.attempts.map(attemptView) },
    cause: error,
  });
}

function whatFailed({ kind }: UpstreamFailure, provider: string): string {
  return kind === 'timeout'
    ? `The answer of the provider ${provider} took too long and was cut off`
    : `The provider ${provider} ended its answer early`;
}

/** The provider's own error code, unless it is about the account there, which is not the caller's. */
function providerCode({ isAboutAccount, details }: UpstreamFailure): string | undefined {
  return isAboutAccount ? undefined : details.providerCode;
}
