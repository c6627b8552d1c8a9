import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
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
