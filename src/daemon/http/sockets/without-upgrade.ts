import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

interface Offer {
  request: IncomingMessage;
  socket: Socket;
  /** What came after the headers. */
  head: Buffer;
}

/**
 * Serves a request as if it had not offered another protocol, which may be ignored (RFC 9110, 7.8): some clients offer
 * HTTP/2 with every request. Node has stopped reading HTTP by now, so the connection begins anew with the same
 * headers but for the offer.
 */
export function serveWithoutUpgrade(server: Server, { request, socket, head }: Offer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    if (/^(upgrade|http2-settings)$/i.test(name)) continue;
    if (!/^connection$/i.test(name)) lines.push(`${name}: ${value}`);
    else if (/\bclose\b/i.test(value)) lines.push('connection: close');
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
