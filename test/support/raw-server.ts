import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface RawServer {
  url: string;
  port: number;
  /** How many connections it has accepted so far. */
  readonly connections: number;
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>;
}

/**
 * A TCP server on a free port of loopback that answers each request head by hand; closed when the test ends.
 * `answer` is called once a connection has sent a whole request head, with everything sent so far.
 */
export async function startRawServer(answer: (socket: Socket, request: string) => void): Promise<RawServer> {
  const open = new Set<Socket>();
  let connections = 0;
  const server: Server = createServer({ noDelay: true }, (socket) => {
    connections += 1;
    open.add(socket);
    let head = '';
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      if (open.size === 0) server.emit('all-closed');
    });
    socket.on('data', (data) => {
      head += data.toString('latin1');
      if (!isWholeRequest(head)) return;
      const request = head;
      head = '';
      answer(socket, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get connections() {
      return connections;
    },
    allClosed: async () => {
      if (open.size > 0) await once(server, 'all-closed');
    },
  };
}

function isWholeRequest(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  return text.length >= end + 4 + Number(length ?? 0);
}

/** A chunk of a chunked body. */
export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

export const lastChunk = '0\r\n\r\n';

/** The head of a chunked answer. */
export function chunkedHead(contentType = 'text/event-stream', status = '200 OK'): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`;
}

/** A whole answer with its length. */
export function wholeAnswer(body: string, options: { status?: string; headers?: string[] } = {}): string {
  const { status = '200 OK', headers = ['content-type: application/json'] } = options;
  const lines = [`HTTP/1.1 ${status}`, ...headers, `content-length: ${Buffer.byteLength(body)}`];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
