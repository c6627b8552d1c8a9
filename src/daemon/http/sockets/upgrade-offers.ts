import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { responseOn } from '../connection-errors.ts';

/** A request for a WebSocket, whose connection left the HTTP server. */
export interface WebSocketOffer {
  request: IncomingMessage;
  /** For an ordinary answer, after which the connection is closed. */
  response: ServerResponse;
  socket: Socket;
  /** Bytes received after the headers. */
  head: Buffer;
}

/** Calls `accept` for each request for a WebSocket. Other protocols are not spoken: their offers are ignored. */
export function acceptWebSockets(server: Server, accept: (offer: WebSocketOffer) => void): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Writing now would end up inside a response in progress.
    if (responseOn(socket)) socket.destroy();
    else if (isForWebSocket(request))
      accept({ request, response: closingResponse(socket, request), socket, head });
    else serveWithoutUpgrade(server, { request, socket, head });
  });
}

/** Source: RFC 6455, section 4.1. */
function isForWebSocket({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
  return method === 'GET' && !hasBody && headers.upgrade?.toLowerCase() === 'websocket';
}

/** The HTTP response to an upgrade request. The connection closes after it, as the client expects frames. */
function closingResponse(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  return response;
}

const ofOffer = /^(upgrade|http2-settings)$/i;

/**
 * Serves a request as if it had not offered another protocol, which may be ignored (RFC 9110, 7.8): some clients offer
 * HTTP/2 with every request. Node has stopped parsing HTTP by now, so the connection is handed over again with the same
 * headers except the offer.
 */
function serveWithoutUpgrade(
  server: Server,
  { request, socket, head }: Pick<WebSocketOffer, 'request' | 'socket' | 'head'>,
): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    if (ofOffer.test(name)) continue;
    if (!/^connection$/i.test(name)) lines.push(`${name}: ${value}`);
    else lines.push(`${name}: ${value.split(',').filter((each) => !ofOffer.test(each.trim()))}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
