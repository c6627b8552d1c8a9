import { ApiError } from '../../../../shared/errors.ts';
import type { Identified } from '../../../handler.ts';
import type { CallStatus } from '../../metering/index.ts';

/** What canceled a call before its answer was complete. */
export type CancelReason = 'client-left' | 'stopped' | 'draining' | 'revoked' | 'expired';

/** Joins everything that can cancel a call into one signal: the client, a stop of the daemon, the end of its key. */
export function watchCancellation({ signal, caller }: { signal: AbortSignal; caller: Identified }) {
  const abort = new AbortController();
  let reason: CancelReason | undefined;
  const cancel = (cause: CancelReason) => {
    reason ??= cause;
    abort.abort(cause);
  };
  const onSignal = () => cancel(reasonOf(signal));
  if (signal.aborted) onSignal();
  else signal.addEventListener('abort', onSignal, { once: true });
  const { revoked } = caller;
  const releaseRevoked = whenAborted(revoked, () => cancel(isExpiry(revoked.reason) ? 'expired' : 'revoked'));
  const release = () => {
    signal.removeEventListener('abort', onSignal);
    releaseRevoked();
  };
  return { abort, canceled: () => reason, release };
}

function reasonOf({ reason }: AbortSignal): CancelReason {
  return reason === 'draining' || reason === 'stopped' ? reason : 'client-left';
}

function isExpiry(reason: unknown): boolean {
  return reason instanceof ApiError && reason.code === 'limit_reached';
}

/**
 * How a call without a complete answer is settled. A caller cancels by leaving, stopping the call, or revoking the key;
 * only a lost key leaves an error code. A drained or failed call is `failed`.
 */
export function settleReasonOf(
  canceled: CancelReason | undefined,
  errorCode: string,
): { status: CallStatus; errorCode?: string } {
  if (canceled === undefined || canceled === 'draining') return { status: 'failed', errorCode };
  const isKeyLost = canceled === 'revoked' || canceled === 'expired';
  return { status: 'canceled', ...(isKeyLost && { errorCode }) };
}

/** The caller's error for a canceled call. */
export function cancellationError(reason: CancelReason): ApiError {
  if (reason === 'revoked') return new ApiError('unauthenticated', { message: 'The key was revoked.' });
  if (reason === 'expired') {
    return new ApiError('limit_reached', { param: 'limits.expires_at', message: 'The key has expired.' });
  }
  if (reason === 'draining') return new ApiError('unavailable', { message: 'The daemon is stopping.' });
  if (reason === 'stopped') return new ApiError('conflict', { message: 'The run was stopped.' });
  return new ApiError('unavailable', { message: 'The client left.' });
}

interface AbortListener {
  listener: () => void;
  /** Position in its list; -1 once removed. */
  index: number;
}

/** Listeners by signal, all behind one event listener. */
const listenersBySignal = new WeakMap<AbortSignal, AbortListener[]>();

/**
 * Calls `listener` once when a signal is aborted, or immediately if it already is. Returns a function that removes the
 * listener. For signals that many calls share: `addEventListener` takes time proportional to a signal's listeners.
 */
export function whenAborted(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => {};
  }
  const all = listenersBySignal.get(signal) ?? listenTo(signal);
  const entry: AbortListener = { listener, index: all.length };
  all.push(entry);
  return () => removeListener(all, entry);
}

function listenTo(signal: AbortSignal): AbortListener[] {
  const all: AbortListener[] = [];
  listenersBySignal.set(signal, all);
  const onAbort = () => {
    for (let entry = all.pop(); entry; entry = all.pop()) {
      entry.index = -1;
      entry.listener();
    }
  };
  signal.addEventListener('abort', onAbort, { once: true });
  return all;
}

/** Fills the gap with the last entry, so that removal takes constant time. */
function removeListener(all: AbortListener[], entry: AbortListener): void {
  const { index } = entry;
  if (index < 0) return;
  entry.index = -1;
  const last = all.pop();
  if (last === undefined || last === entry) return;
  all[index] = last;
  last.index = index;
}
