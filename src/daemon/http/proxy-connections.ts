import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IsTrustedProxy } from './client-address.ts';
import { peerAddress } from './listeners.ts';

/** A listener that always has new connections is closed after so many turns of the event loop. */
const turnsMax = 1000;

/** The open connections of trusted proxies. A proxy sends calls elsewhere when it cannot connect, but not those it has sent. */
export class ProxyConnections {
  #open = 0;
  #accepted = 0;
  #waiting: (() => void)[] = [];

  constructor(server: Server, isTrusted: IsTrustedProxy) {
    server.on('connection', (socket) => {
      this.#accepted += 1;
      if (!isTrusted(peerAddress(socket))) return;
      this.#open += 1;
      socket.once('close', () => {
        this.#open -= 1;
        if (this.#open > 0) return;
        for (const resolve of this.#waiting.splice(0)) resolve();
      });
    });
  }

  /** Resolves when a turn of the event loop has brought no connection: closing a listener resets those that wait for it. */
  async quiet(): Promise<void> {
    for (let turn = 0, before = -1; turn < turnsMax && before !== this.#accepted; turn += 1) {
      before = this.#accepted;
      // The first may come before this turn has looked for connections.
      await nextTurn();
      await nextTurn();
    }
  }

  /** Resolves when all are closed, or after that time. */
  async closedWithin(ms: number): Promise<void> {
    if (this.#open === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#waiting.push(resolve);
    await promise;
    clearTimeout(timer);
  }
}
