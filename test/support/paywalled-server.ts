import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';

export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A seller's web server on a free port, which answers with what it was asked. */
export async function startPaywalledServer() {
  const seen: SeenRequest[] = [];
  const handlers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const handler = handlers.get(path);
    if (handler) return handler(request, response);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ path: request.url, length: body.length }));
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    seen.push({ method: 'UPGRADE', url: request.url ?? '', headers: request.headers, body: '' });
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (data) => client.send(`echo ${data}`));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    /** The requests that arrived at paths without a handler of their own. */
    seen,
    /** Answers a path in another way. */
    on(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void {
      handlers.set(path, handler);
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      sockets.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type PaywalledServer = Awaited<ReturnType<typeof startPaywalledServer>>;
