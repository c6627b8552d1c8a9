import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server as TcpServer,
} from 'node:net';
import type { Duplex } from 'node:stream';

export interface TestProxy {
  port: number;
  /** What it was asked, in order: `CONNECT provider.test:443` or `POST http://plain.test/v1/responses`. */
  asked: string[];
  close(): Promise<void>;
}

/** A SOCKS 5 proxy that asks for nothing and knows where `hosts` are; source: RFC 1928. */
export async function startSocksProxy(hosts: Record<string, number>): Promise<TestProxy> {
  const asked: string[] = [];
  const sockets = new Set<Duplex>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (request: Buffer) => {
        const length = request[4] ?? 0;
        const host = request.subarray(5, 5 + length).toString();
        asked.push(`${host}:${request.readUInt16BE(5 + length)}`);
        const beyond = connect(hosts[host] ?? 0, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          beyond.pipe(socket).pipe(beyond);
        });
        sockets.add(beyond);
        beyond.on('error', () => socket.destroy());
      });
    });
  });
  return { ...(await listening(server, sockets)), asked };
}

/**
 * A proxy on a free port of loopback that wants a name and a password, tunnels, and passes requests on. It alone knows where
 * `hosts` are: a port of this machine each.
 */
export async function startProxy(options: {
  credentials: string;
  hosts: Record<string, number>;
}): Promise<TestProxy> {
  const asked: string[] = [];
  const wanted = `Basic ${Buffer.from(options.credentials).toString('base64')}`;
  const sockets = new Set<Duplex>();

  const server = createServer((incoming, answer) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const { 'proxy-authorization': shown, ...headers } = incoming.headers;
    if (shown !== wanted) return answer.writeHead(407).end();
    const url = new URL(incoming.url ?? '');
    const port = options.hosts[url.hostname];
    const passed = sendRequest(
      { port, method: incoming.method, path: url.pathname + url.search, headers },
      (back) => {
        answer.writeHead(back.statusCode ?? 502, back.headers);
        back.pipe(answer);
      },
    );
    incoming.pipe(passed);
  });
  server.on('connect', (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    socket.on('error', () => undefined);
    if (incoming.headers['proxy-authorization'] !== wanted) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const port = options.hosts[(incoming.url ?? '').split(':')[0] ?? ''] ?? 0;
    const beyond = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      beyond.pipe(socket).pipe(beyond);
    });
    sockets.add(beyond);
    beyond.on('error', () => socket.destroy());
    socket.on('close', () => beyond.destroy());
  });
  server.on('connection', (socket) => sockets.add(socket));
  return { ...(await listening(server, sockets)), asked };
}

async function listening(server: TcpServer, sockets: ReadonlySet<Duplex>): Promise<Omit<TestProxy, 'asked'>> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
