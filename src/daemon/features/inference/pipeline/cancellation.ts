import { ApiError } from '../../../../shared/errors.ts';
import type { KeyCaller, LoginCaller } from '../../../handler.ts';
import type { SettleReason } from './meter.ts';
import { whenAborted } from './when-aborted.ts';

/** Who ended a call from outside, before its answer was whole. */
export type CancelReason = 'client-left' | 'stopped' | 'draining' | 'revoked' | 'expired';

/** One signal for the provider, ended by whoever comes first: the client, the daemon's stop, the key's revocation. */
export function watchCancellation({
  signal,
  caller,
}: {
  signal: AbortSignal;
  caller: KeyCaller | LoginCaller;
}) {
  const abort = new AbortController();
  let by: CancelReason | undefined;
  const end = (cause: CancelReason) => {
    by ??= cause;
    abort.abort(cause);
  };
  const onSignal = () => end(causeOf(signal.reason));
  if (signal.aborted) onSignal();
  else signal.addEventListener('abort', onSignal, { once: true });
  const { revoked } = caller;
  const releaseRevoked = whenAborted(revoked, () => end(isExpiry(revoked.reason) ? 'expired' : 'revoked'));
  const release = () => {
    signal.removeEventListener('abort', onSignal);
    releaseRevoked();
  };
  return { abort, ended: () => by, release };
}

function causeOf(reason: unknown): CancelReason {
  return reason === 'draining' || reason === 'stopped' ? reason : 'client-left';
}

function isExpiry(reason: unknown): boolean {
  return reason instanceof ApiError && reason.code === 'limit_reached';
}

/**
 * How a call without a whole answer is settled. Callers cancel by leaving, by stopping it, by revoking the key and by letting it
 * expire; what they ended themselves did not fail, so that there is nothing to name.
 */
export function settledAs(ended: CancelReason | undefined, code: string): SettleReason {
  if (ended === undefined || ended === 'draining') return { status: 'failed', errorCode: code };
  return { status: 'canceled', ...((ended === 'revoked' || ended === 'expired') && { errorCode: code }) };
}

/** What a caller is told whose call was ended from outside. */
export function cancellationError(ended: CancelReason): ApiError {
  if (ended === 'revoked') return new ApiError('unauthenticated', { message: 'The key was revoked.' });
  if (ended === 'expired') {
    return new ApiError('limit_reached', { param: 'limits.expires_at', message: 'The key has expired.' });
  }
  if (ended === 'draining') return new ApiError('unavailable', { message: 'The daemon is stopping.' });
  if (ended === 'stopped') return new ApiError('conflict', { message: 'The run was stopped.' });
  return new ApiError('unavailable', { message: 'The client left.' });
}
