import { TransientMap } from '../../../shared/async/transient.ts';
import { CallAbortController, whenAborted } from '../../../shared/async/when-aborted.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Identified } from '../../base/handler.ts';
import type { CallStatus } from '../metering/index.ts';

/** The reason why a call was canceled before its answer was complete. */
export type CancelReason =
  | 'client-left'
  | 'canceled'
  | 'stopped'
  | 'draining'
  | 'cut-off'
  | 'revoked'
  | 'paused'
  | 'expired';

interface Cancelable {
  requestId: string;
  signal: AbortSignal;
  caller: Identified;
}

/** Joins everything that can cancel a call into one signal: the client, an admin, a stop of the daemon, the end of its key. */
export function watchCancellation({ requestId, signal, caller }: Cancelable, running?: RunningCalls) {
  const abort = new CallAbortController();
  let reason: CancelReason | undefined;
  const cancel = (cause: CancelReason) => {
    reason ??= cause;
    abort.abort(cause);
  };
  const releaseSignal = whenAborted(signal, () => cancel(reasonOf(signal)));
  const { revoked } = caller;
  const releaseRevoked = whenAborted(revoked, () => cancel(endOf(revoked.reason)));
  const { workspaceId } = caller;
  const forget = running?.add(requestId, { workspaceId, cancel });
  const release = () => {
    forget?.();
    releaseSignal();
    releaseRevoked();
  };
  return { abort, canceled: () => reason, release };
}

function reasonOf({ reason }: AbortSignal): CancelReason {
  return reason === 'draining' || reason === 'stopped' ? reason : 'client-left';
}

/** What has ended the credential of a caller. */
function endOf(reason: unknown): CancelReason {
  if (!(reason instanceof ApiError)) return 'revoked';
  if (reason.code === 'key_paused') return 'paused';
  return reason.code === 'limit_reached' ? 'expired' : 'revoked';
}

/**
 * How a call without a complete answer is settled. It is canceled if the client left or someone stopped it; a call that the
 * daemon ended, also because its key was revoked or has expired, is `failed` with the error that its client got. So each call
 * with an error code has failed or was interrupted, and counts of errors by status and by code are equal.
 */
export function settleReasonOf(
  canceled: CancelReason | undefined,
  { code: errorCode, status: httpStatus }: Pick<ApiError, 'code' | 'status'>,
): { status: CallStatus; errorCode?: string; httpStatus: number | null } {
  if (canceled === 'client-left') return { status: 'canceled', httpStatus: null };
  if (canceled === 'canceled' || canceled === 'stopped') return { status: 'canceled', httpStatus };
  return { status: 'failed', errorCode, httpStatus };
}

/** The caller's error for a canceled call. */
export function cancellationError(reason: CancelReason): ApiError {
  if (reason === 'revoked') {
    const message = 'The key was revoked, or this secret of it was replaced.';
    return new ApiError('unauthenticated', { message });
  }
  if (reason === 'paused') return new ApiError('key_paused', { message: 'The key was paused.' });
  if (reason === 'expired') {
    return new ApiError('limit_reached', { param: 'limits.expires_at', message: 'The key has expired.' });
  }
  if (reason === 'draining') return new ApiError('unavailable', { message: 'The daemon is stopping.' });
  if (reason === 'cut-off')
    return new ApiError('unavailable', { message: 'The daemon cannot reach its database.' });
  if (reason === 'canceled') {
    return new ApiError('conflict', { message: 'An owner or admin of the workspace canceled the call.' });
  }
  if (reason === 'stopped') return new ApiError('conflict', { message: 'The run was stopped.' });
  return new ApiError('unavailable', { message: 'The client left.' });
}

interface RunningCall {
  workspaceId: string;
  cancel: (reason: 'canceled' | 'cut-off') => void;
}

/** The admitted calls of this process that are not over, by request. */
export class RunningCalls {
  readonly #calls = new TransientMap<string, RunningCall>();

  /** Returns a function that forgets the call; to be called when it is over. */
  add(requestId: string, call: RunningCall): () => void {
    this.#calls.set(requestId, call);
    return () => {
      // A request may make several calls, one after another.
      if (this.#calls.get(requestId) === call) this.#calls.delete(requestId);
    };
  }

  /** Ends a call of the workspace as its client could. Returns whether there was one. */
  cancel(workspaceId: string, requestId: string): boolean {
    const call = this.#calls.get(requestId);
    if (call?.workspaceId !== workspaceId) return false;
    call.cancel('canceled');
    return true;
  }

  /** Ends all calls, as another daemon may settle them now. */
  cutOff(): void {
    for (const call of this.#calls.values()) call.cancel('cut-off');
  }
}
