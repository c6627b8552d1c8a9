import type { Server } from 'node:http';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { unixClient } from './client-address.ts';
import { outliveConnections } from './connection-errors.ts';
import { listenOnSocketFile, type SocketAccess } from './socket-file.ts';

const socketFileConnections = new WeakSet<Socket>();

/** Whether a connection came through the Unix socket, where clients have no address. */
export function isFromSocketFile(socket: Socket): boolean {
  return socketFileConnections.has(socket);
}

/** Who connected: an address, or `unix`; empty for a thread of this process. */
export function peerAddress(socket: Socket): string {
  return socket.remoteAddress ?? (isFromSocketFile(socket) ? unixClient : '');
}

/** Listeners in addition to the server's own address. */
export interface Listeners {
  /** Does nothing if the machine does not have this address. */
  addAddress(address: { host: string; port: number; reusePort: boolean }): Promise<void>;
  /** Throws SocketUnusable. */
  addSocketFile(path: string, access: SocketAccess): Promise<void>;
  /** Accepts no more connections; resolves when all have ended. May be repeated. */
  close(): Promise<void>;
}

/**
 * Creates further listeners for one server. It handles their connections like its own: the same limits and timeouts apply,
 * and the limit of open connections applies to all of them together.
 */
export function createListeners(server: Server): Listeners {
  const connectionsMax = server.maxConnections ?? Number.POSITIVE_INFINITY;
  const listeners: NetServer[] = [];
  let open = 0;
  let closed: Promise<unknown> | undefined;
  const changed = (by: number): void => {
    open += by;
    if (connectionsMax !== Number.POSITIVE_INFINITY)
      server.maxConnections = Math.max(0, connectionsMax - open);
  };
  const take = (socket: Socket): void => {
    server.getConnections((_error, count = 0) => {
      if (count + open >= connectionsMax) {
        socket.destroy();
        server.emit('drop');
        return;
      }
      changed(1);
      socket.once('close', () => changed(-1));
      server.emit('connection', socket);
    });
  };
  const door = (onConnection: (socket: Socket) => void): NetServer => {
    const made = createServer({ allowHalfOpen: true, noDelay: true });
    outliveConnections(made);
    made.on('connection', onConnection);
    listeners.push(made);
    return made;
  };
  return {
    async addAddress({ host, port, reusePort }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const made = door(take);
      made.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') resolve();
        else reject(error);
      });
      made.listen({ host, port, reusePort }, resolve);
      await promise;
    },
    async addSocketFile(path, access) {
      const made = door((socket) => {
        socketFileConnections.add(socket);
        take(socket);
      });
      await listenOnSocketFile(made, path, access);
    },
    async close() {
      closed ??= Promise.all(listeners.map((each) => new Promise((resolve) => each.close(resolve))));
      await closed;
    },
  };
}

/** The URL to call a server at. Clients cannot connect to `0.0.0.0` and `::`, which mean all addresses. */
export function serverUrl(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
