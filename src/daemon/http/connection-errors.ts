import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ApiError, type ErrorCode } from '../../shared/errors.ts';
import { versionHeader } from '../../shared/version.ts';
import { errorAnswer } from './error-reply.ts';

interface ConnectionFailure extends Error {
  code?: string;
}

export interface RawAnswerOptions {
  makeRequestId: () => string;
  version: string;
}

const codesOfParser: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'limit_exceeded',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

const refusals = new WeakMap<Socket, ApiError>();

/** The error with which a connection was closed while its request was still arriving, such as `request_timeout`. */
export function refusalOn(socket: Socket): ApiError | undefined {
  return refusals.get(socket);
}

/** Responds to what never became a request: too slow, too large, or not HTTP. Then the connection is closed. */
export function rawAnswers({ makeRequestId, version }: RawAnswerOptions) {
  const refuse = (socket: Socket, error: ApiError): void => {
    // After a response has started, another one would be read as part of it.
    if (!socket.writable || responseOn(socket)?.headersSent) {
      socket.destroy();
      return;
    }
    const requestId = makeRequestId();
    const { status, headers, body } = errorAnswer(error, { surface: 'v1', requestId });
    const lines = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `x-request-id: ${requestId}`,
      `${versionHeader}: ${version}`,
      `content-length: ${Buffer.byteLength(body)}`,
      `date: ${new Date().toUTCString()}`,
      'connection: close',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
    socket.destroySoon();
  };
  return {
    onClientError(failure: ConnectionFailure, socket: Socket): void {
      if (failure.code === 'ECONNRESET' || failure.code === 'EPIPE') {
        socket.destroy();
        return;
      }
      const code = codesOfParser[failure.code ?? ''];
      if (code) refusals.set(socket, new ApiError(code));
      refuse(
        socket,
        code ? new ApiError(code) : new ApiError('invalid_request', { message: 'This is not valid HTTP.' }),
      );
    },
    /** Replaces Node's own responses, which have no request id. */
    attachTo(server: Server): void {
      server.on('connect', (_request: IncomingMessage, socket: Socket) => {
        // Its answer would be read as that of an earlier request.
        if (responseOn(socket)) socket.destroy();
        else refuse(socket, new ApiError('not_found'));
      });
      // Unknown expectations may be ignored. `100-continue` is answered once the body is wanted: see `inviteBody`.
      const serve = (request: IncomingMessage, response: ServerResponse) =>
        server.emit('request', request, response);
      server.on('checkExpectation', serve);
      server.on('checkContinue', serve);
    },
  };
}

/** The response that a connection is to send next. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Asks a waiting client for its body, only after its headers were accepted. */
export function inviteBody(request: IncomingMessage, response: ServerResponse): void {
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() === '100-continue') response.writeContinue();
}

/**
 * Gives each connection an `error` listener when it is accepted. Node's HTTP server takes its own away when a request asks
 * for a tunnel or another protocol, and an error without a listener would end the process.
 */
export function outliveConnections(server: NetServer): void {
  server.on('connection', outlive);
}

/** The same for one connection. */
export function outlive(socket: Duplex): void {
  // A connection is handed to its server again if an offered protocol is not wanted.
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
}

/** Sockets destroy themselves on errors. */
function ignore(): void {}

/**
 * Closes connections whose time is over, as Node does without this, but idle ones only if no request has come: timers run before
 * sockets are read, and after a pause of this process, what arrived meanwhile has yet to be read.
 */
export function closeTimedOutConnections(server: Server): void {
  server.on('timeout', (socket) => {
    const response = responseOn(socket);
    if (response) {
      // The time limit of a response that says itself what follows.
      if (response.listenerCount('timeout') === 0) socket.destroy();
      return;
    }
    const { bytesRead } = socket;
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy();
    });
  });
}

/**
 * Closes the responses that wait behind another one when their connection closes. Node does so no longer once a request on
 * it asked for a tunnel or another protocol; they would wait forever.
 */
export function closeQueuedResponses(server: Server): void {
  for (const name of ['request', 'checkContinue', 'checkExpectation'])
    server.prependListener(name, closeWithConnection);
}

const queued = new WeakMap<Socket, Set<ServerResponse>>();

function closeWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) return;
  const waiting = queued.get(socket) ?? new Set();
  if (!queued.has(socket)) {
    queued.set(socket, waiting);
    socket.once('close', () => {
      for (const each of waiting) {
        each.destroy();
        each.emit('close');
      }
    });
  }
  waiting.add(response);
  response.once('socket', () => waiting.delete(response));
}
