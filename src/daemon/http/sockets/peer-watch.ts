import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Cuttable } from '../event-stream.ts';
import type { HttpLimits } from '../protection/limits.ts';

/** Unanswered pings before a peer is considered dead. */
const silentPingsMax = 2;

/** Disconnects peers that are gone or read nothing. */
export class PeerWatch {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #limits: HttpLimits;
  readonly #stalled: Set<Cuttable>;
  readonly #timer: NodeJS.Timeout;
  #heardBytes = 0;
  #silentPings = 0;

  constructor(
    webSocket: WebSocket,
    socket: Socket,
    { limits, stalled }: { limits: HttpLimits; stalled: Set<Cuttable> },
  ) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#limits = limits;
    this.#stalled = stalled;
    this.#timer = setInterval(() => this.#ping(), limits.heartbeatMs);
    webSocket.on('ping', (data) => {
      // A peer that pings and reads nothing would fill the memory with pongs.
      if (webSocket.bufferedAmount < limits.streamBufferBytesMax) webSocket.pong(data);
    });
    socket.on('timeout', () => webSocket.terminate());
  }

  /** Resolves when the buffer is small enough or the socket is closed. A peer that reads nothing is disconnected. */
  async untilTaken(): Promise<void> {
    const socket = this.#socket;
    if (this.#webSocket.bufferedAmount <= this.#limits.streamBufferBytesMax || socket.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    // The socket's timeout restarts whenever bytes are read, even within one long write.
    socket.setTimeout(this.#limits.stalledReaderMs);
    socket.once('drain', resolve);
    socket.once('close', resolve);
    this.#stalled.add(socket);
    await promise;
    this.#stalled.delete(socket);
    socket.setTimeout(0);
    socket.off('drain', resolve);
    socket.off('close', resolve);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  /** Any incoming byte is a sign of life. A ping that is queued behind a response is not counted as unanswered. */
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
