import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ready } from '../../shared/contract/daemon.ts';
import { ApiError } from '../../shared/errors.ts';
import { clientOf } from './client-address.ts';
import { refusalOn } from './connection-errors.ts';
import { takeClientAddress } from './forwarder.ts';
import { isFromSocketFile } from './listeners.ts';
import { isPreflight, noteOrigin, preflightHeaders } from './protection/guard.ts';
import { reportFailure } from './report-failure.ts';
import { ServerCall } from './server-call.ts';
import type { ServerContext } from './server-context.ts';

const doubled = /^(?:\/+v1){2,}\/+/;
const unversioned = /^\/{1,2}(?=(?:chat\/completions|responses|messages|models|embeddings)(?:[/?]|$))/;

/**
 * The path that is meant. Clients disagree on whether a base URL ends with `/v1`: some add it to one that has it, others add it
 * to none.
 */
export function servedPath(url: string): string {
  return url.replace(unversioned, '/v1/').replace(doubled, '/v1/');
}

/** Starts tracking a request; its end is noticed however it comes. */
export function startRequest(
  context: ServerContext,
  request: IncomingMessage,
  response: ServerResponse,
): ServerCall {
  const call = new ServerCall(context.options.makeRequestId(), request, response, performance.now());
  const { isTrustedProxy } = context;
  if (context.isBehindThreads && !isFromSocketFile(request.socket))
    call.forwardedFor = takeClientAddress(request);
  if (isTrustedProxy !== undefined) {
    const { remoteAddress: address, headers } = call;
    const client = clientOf({ address, headers }, isTrustedProxy);
    if (client.isProxied) call.proxiedFor = client.address;
  }
  context.running.add(call);
  // The response's `close`, not the request's: that one comes as soon as a body has been read.
  response.once('close', () => finishRequest(context, call, { aborted: wasCut(response) }));
  return call;
}

/** Called once the response is written or the connection is gone. */
export function finishRequest(
  context: ServerContext,
  call: ServerCall,
  { aborted }: { aborted: boolean },
): void {
  context.largeBodies.free(call);
  if (call.isForwarded) {
    call.isAnswered = true;
    context.running.release(call);
    return;
  }
  if (aborted) {
    call.end('client-left');
    if (!call.isTaken) reportFailure(context.options, call, refusalOn(call.request.socket));
  }
  call.isAnswered = true;
  context.running.release(call);
  context.options.onFinish?.({
    endpoint: call.endpoint,
    method: call.request.method ?? '',
    url: call.request.url ?? '',
    status: call.response.statusCode,
    durationMs: performance.now() - call.startedAtMs,
    requestId: call.requestId,
    caller: call.caller,
    aborted,
    failure: call.failure,
  });
}

// A response that ended but is not yet flushed counts as delivered, unless its connection is gone. Injected requests have none.
function wasCut(response: ServerResponse): boolean {
  if (!response.writableEnded) return true;
  return !response.writableFinished && response.socket?.destroyed === true;
}

/** Checks every request before anything else. Returns whether to continue; otherwise it has responded. */
export function acceptRequest(context: ServerContext, call: ServerCall): boolean {
  const { responder } = context;
  if (hasReachedRequestLimit(call.request.socket, context)) call.response.shouldKeepAlive = false;
  if (context.origins.any) noteOrigin(call, context.origins);
  const refusal = context.guard(call.request) ?? refusalOf(context, call);
  if (refusal !== undefined) {
    responder.fail(call, refusal);
    return false;
  }
  if (isPreflight(call)) {
    responder.empty(call, preflightHeaders(call));
    return false;
  }
  return true;
}

function refusalOf(context: ServerContext, { request, isProxied }: ServerCall): ApiError | undefined {
  const isServed = context.isLeaving && isProxied && request.url !== ready.path;
  if (context.isDraining && !isServed) {
    return new ApiError('unavailable', { message: 'The daemon is stopping.', retryAfterSeconds: 2 });
  }
  // The absolute form is for proxies, and would bypass the check of the Host header.
  if (!request.url?.startsWith('/')) return new ApiError('not_found');
  return undefined;
}

const requestCount = Symbol('requests on this connection');

// Node's own limit keeps the connection open, and responds to further requests without a request id.
function hasReachedRequestLimit(
  socket: Socket & { [requestCount]?: number },
  context: ServerContext,
): boolean {
  const count = (socket[requestCount] ?? 0) + 1;
  socket[requestCount] = count;
  return count >= context.limits.requestsPerConnectionMax;
}
