import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { responseOn } from './connection-errors.ts';

/**
 * The connections of a server. When there is one too many, the idle ones are closed, so that its client can connect when it tries
 * again. Node's `closeIdleConnections` also closes those whose last answer is still being sent.
 */
export class OpenConnections {
  readonly #open = new Set<Socket>();
  /** Those that speak another protocol by now. */
  readonly #upgraded = new WeakSet<Duplex>();
  #isFull = false;

  constructor(server: Server) {
    server.on('connection', (socket) => {
      // A connection whose offer of another protocol is ignored comes again.
      this.#upgraded.delete(socket);
      if (this.#open.has(socket)) return;
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
    server.prependListener('upgrade', (_request, socket) => this.#upgraded.add(socket));
    server.on('drop', () => {
      if (this.#isFull) return;
      this.#isFull = true;
      setImmediate(() => {
        this.#isFull = false;
        for (const socket of this.#idle()) if (socket.bytesWritten > 0) socket.destroy();
      });
    });
  }

  /** Closes those that are idle now and still are after that time. */
  closeIdleAfter(ms: number): void {
    const idle = this.#idle().map((socket) => ({ socket, bytesRead: socket.bytesRead }));
    const close = (): void => {
      for (const { socket, bytesRead } of idle)
        if (socket.bytesRead === bytesRead && !responseOn(socket)) socket.destroy();
    };
    // After a pause of the process, timers run before what came meanwhile is read.
    setTimeout(() => setImmediate(close), ms).unref();
  }

  #idle(): Socket[] {
    return [...this.#open].filter((socket) => !responseOn(socket) && !this.#upgraded.has(socket));
  }
}
