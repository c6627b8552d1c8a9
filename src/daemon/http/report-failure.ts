import { statusOf } from '../../shared/contract/error-reply.ts';
import type { ApiError } from '../../shared/errors.ts';
import type { Caller } from '../base/handler.ts';
import type { ServerCall } from './server-call.ts';
import type { HttpServerOptions } from './server-options.ts';

/** Reports the failure of a request once; without an error if its client left. */
export function reportFailure(
  { onFailure }: Pick<HttpServerOptions, 'onFailure'>,
  call: ServerCall,
  error: ApiError | undefined,
): void {
  if (call.failure !== undefined) return;
  call.failure = { error };
  const { requestId, caller, body, startedAtMs } = call;
  onFailure?.({
    ...placeOf(call),
    requestId,
    caller,
    body,
    ...outcomeOf(call, error),
    ...since(startedAtMs),
  });
}

interface FailedMessage {
  requestId: string;
  caller: Caller;
  /** As far as it could be parsed. */
  message: unknown;
  startedAtMs: number;
}

/** Reports the failure of a message on a socket; without an error if the client left. */
export function reportMessageFailure(
  { onFailure }: Pick<HttpServerOptions, 'onFailure'>,
  handshake: ServerCall,
  { requestId, caller, message, startedAtMs }: FailedMessage,
  error: ApiError | undefined,
): void {
  const outcome = outcomeOf(handshake, error);
  onFailure?.({ ...placeOf(handshake), requestId, caller, body: message, ...outcome, ...since(startedAtMs) });
}

function placeOf({ endpoint, request, remoteAddress, headers }: ServerCall) {
  return { endpoint, method: request.method ?? '', url: request.url ?? '', remoteAddress, headers };
}

function outcomeOf({ surface }: ServerCall, error: ApiError | undefined) {
  return { error, status: error === undefined ? null : statusOf(error, surface) };
}

const since = (startedAtMs: number) => ({ durationMs: performance.now() - startedAtMs });
