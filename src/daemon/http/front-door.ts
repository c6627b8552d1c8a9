import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../../shared/errors.ts';
import { isPreflight, noteOrigin, preflightHeaders } from './cors.ts';
import type { Room } from './room.ts';
import { ServerCall } from './server-call.ts';

/** Begins a call: from here on it is counted, and its end is seen however it comes. */
export function beginCall(room: Room, request: IncomingMessage, response: ServerResponse): ServerCall {
  const call = new ServerCall(room.options.makeRequestId(), request, response, performance.now());
  room.running.add(call);
  // The response's `close`, not the request's: that one comes as soon as a body has been read.
  response.once('close', () => finishCall(room, call, { aborted: wasCut(response) }));
  return call;
}

/** The answer to a call is out, or its connection is gone. */
export function finishCall(room: Room, call: ServerCall, { aborted }: { aborted: boolean }): void {
  if (aborted) call.end('client-left');
  call.isAnswered = true;
  room.running.release(call);
  room.options.onFinish?.({
    endpoint: call.endpoint,
    method: call.request.method ?? '',
    status: call.response.statusCode,
    durationMs: performance.now() - call.startedAtMs,
    requestId: call.requestId,
    caller: call.caller,
    aborted,
  });
}

// What was ended but not yet taken counts as taken, unless its connection is gone: requests without a port have none.
function wasCut(response: ServerResponse): boolean {
  if (!response.writableEnded) return true;
  return !response.writableFinished && response.socket?.destroyed === true;
}

/** What is asked of every request before anything else. Returns whether it may go on; otherwise it is answered. */
export function passFrontDoor(room: Room, call: ServerCall): boolean {
  const { responder } = room;
  if (isWornOut(call.request.socket, room)) call.response.shouldKeepAlive = false;
  if (room.origins.size > 0) noteOrigin(call, room.origins);
  const refusal = room.guard(call.request) ?? refusalOf(room, call);
  if (refusal !== undefined) {
    responder.fail(call, refusal);
    return false;
  }
  if (isPreflight(call)) {
    responder.empty(call, { ...preflightHeaders });
    return false;
  }
  return true;
}

function refusalOf(room: Room, { request }: ServerCall): ApiError | undefined {
  if (room.isDraining) {
    return new ApiError('unavailable', { message: 'The daemon is stopping.', retryAfterSeconds: 2 });
  }
  // The absolute form is for proxies, and names a host past the Host header.
  if (!request.url?.startsWith('/')) return new ApiError('not_found');
  return undefined;
}

const requestCount = Symbol('requests on this connection');

// Node's own bound announces the end but keeps the connection, and answers what still comes without a request id.
function isWornOut(socket: Socket & { [requestCount]?: number }, room: Room): boolean {
  const count = (socket[requestCount] ?? 0) + 1;
  socket[requestCount] = count;
  return count >= room.limits.requestsPerConnectionMax;
}
