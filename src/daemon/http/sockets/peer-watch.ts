import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { HttpLimits } from '../protection/limits.ts';

/** Pings that may go unheard before a peer is taken for dead. */
const silentPingsMax = 2;

/** Sees to it that nobody holds a socket who is gone, or reads nothing. */
export class PeerWatch {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #limits: HttpLimits;
  readonly #timer: NodeJS.Timeout;
  #heardBytes = 0;
  #silentPings = 0;

  constructor(webSocket: WebSocket, socket: Socket, limits: HttpLimits) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#limits = limits;
    this.#timer = setInterval(() => this.#ping(), limits.heartbeatMs);
    webSocket.on('ping', (data) => {
      // Whoever pings and reads nothing would fill the memory with answers.
      if (webSocket.bufferedAmount < limits.streamBufferBytesMax) webSocket.pong(data);
    });
    socket.on('timeout', () => webSocket.terminate());
  }

  /** Resolves when little enough is held back, or the socket is gone; a reader who takes nothing is cut off. */
  async untilTaken(): Promise<void> {
    const socket = this.#socket;
    if (this.#webSocket.bufferedAmount <= this.#limits.streamBufferBytesMax || socket.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Its own clock begins anew whenever something was taken, also of one long write.
    socket.setTimeout(this.#limits.stalledReaderMs);
    socket.once('drain', resolve);
    socket.once('close', resolve);
    await promise;
    socket.setTimeout(0);
    socket.off('drain', resolve);
    socket.off('close', resolve);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  /** Anything that comes in counts as a sign of life; a ping that waits behind an answer is not unheard. */
  #ping(): void {
    const { bytesRead } = this.#socket;
    const isSilent = bytesRead === this.#heardBytes;
    this.#heardBytes = bytesRead;
    this.#silentPings = isSilent ? this.#silentPings + 1 : 0;
    if (this.#webSocket.bufferedAmount > 0) return;
    if (this.#silentPings > silentPingsMax) this.#webSocket.terminate();
    else this.#webSocket.ping();
  }
}
