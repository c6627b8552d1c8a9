import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface FakeServer {
  url: string;
  close(): Promise<void>;
}

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** An HTTP server on a free port of loopback, which the caller must close. With `tls`, its certificate is for `localhost`. */
export async function startFakeServer(
  serve: Serve,
  { tls }: { tls?: { cert: string; key: string } } = {},
): Promise<FakeServer> {
  const handler = (request: IncomingMessage, response: ServerResponse) =>
    void serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  const server: Server = tls ? createTlsServer(tls, handler) : createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const { port } = server.address() as AddressInfo;
  const url = tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  return { url, close };
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
