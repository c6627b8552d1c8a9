import type { Server } from 'node:http';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { listenOnSocketFile, type SocketAccess } from './socket-file.ts';

const throughSocketFile = new WeakSet<Socket>();

/** Whether a connection came by the Unix socket: there are no addresses then. */
export function isThroughSocketFile(socket: Socket): boolean {
  return throughSocketFile.has(socket);
}

/** Where else the server can be called than at its own address. */
export interface Listeners {
  /** An address that the machine may not have; then nobody calls there. */
  addAddress(address: { host: string; port: number }): Promise<void>;
  /** Throws SocketUnusable. */
  addSocketFile(path: string, access: SocketAccess): Promise<void>;
  close(): Promise<void>;
}

/**
 * Further listeners to one server, which takes their connections as if they had come to its own address: the same bounds and
 * timeouts hold for all, and no more of them are open together than it may have.
 */
export function createListeners(server: Server): Listeners {
  const connectionsMax = server.maxConnections ?? Number.POSITIVE_INFINITY;
  const listeners: NetServer[] = [];
  let open = 0;
  const changed = (by: number): void => {
    open += by;
    if (connectionsMax !== Number.POSITIVE_INFINITY)
      server.maxConnections = Math.max(0, connectionsMax - open);
  };
  const take = (socket: Socket): void => {
    server.getConnections((_error, count = 0) => {
      if (count + open >= connectionsMax) {
        socket.destroy();
        return;
      }
      changed(1);
      socket.once('close', () => changed(-1));
      server.emit('connection', socket);
    });
  };
  const door = (onConnection: (socket: Socket) => void): NetServer => {
    const made = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
    listeners.push(made);
    return made;
  };
  return {
    async addAddress({ host, port }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const made = door(take);
      made.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') resolve();
        else reject(error);
      });
      made.listen({ host, port }, resolve);
      await promise;
    },
    async addSocketFile(path, access) {
      const made = door((socket) => {
        throughSocketFile.add(socket);
        take(socket);
      });
      await listenOnSocketFile(made, path, access);
    },
    async close() {
      await Promise.all(listeners.map((each) => new Promise((resolve) => each.close(resolve))));
    },
  };
}

/** The address to call a server by. All addresses at once, `0.0.0.0` and `::`, are listened on but not called. */
export function reachableUrl(host: string, port: number): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
