import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { StreamReply } from '../handler.ts';
import type { HttpLimits } from './protection/limits.ts';

export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // `no-transform` and the last header keep proxies from compressing or holding back what should be seen at once.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

const heartbeat = ': keep-alive\n\n';

export type EventStreamLimits = Pick<HttpLimits, 'heartbeatMs' | 'stalledReaderMs' | 'streamBufferBytesMax'>;

export interface EventStreamOptions {
  limits: EventStreamLimits;
  /** Whether headers go out before there is anything to send: for streams that wait for something to happen. */
  startAtOnce: boolean;
  /** Writes the head; called once, when the answer can no longer become a failure with a status. */
  writeHead: () => void;
}

/**
 * Writes a stream of events until it ends or the reader is gone. Rejects with what the stream threw: before the head
 * was written it can still be told by a status.
 */
export async function writeEventStream(
  response: ServerResponse,
  { chunks }: StreamReply,
  { limits, startAtOnce, writeHead }: EventStreamOptions,
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    writeHead();
    timer = setInterval(() => {
      if (response.writableLength === 0) response.write(heartbeat);
    }, limits.heartbeatMs);
  };
  try {
    if (startAtOnce) {
      start();
      response.flushHeaders();
    }
    for (;;) {
      const { value, done } = await iterator.next();
      if (response.destroyed) return;
      if (timer === undefined) start();
      if (done) break;
      if (value === '') continue;
      response.write(value);
      timer?.refresh();
      if (response.writableLength > limits.streamBufferBytesMax)
        await drained(response, limits.stalledReaderMs);
    }
    response.end();
    cutWhenStalled(response, limits.stalledReaderMs);
  } finally {
    clearInterval(timer);
    // Its `finally` settles what was used, also when the reader has left.
    await iterator.return?.();
  }
}

/** Resolves when the reader has taken everything, or is gone; one who takes nothing is cut off. */
async function drained(response: ServerResponse, stalledReaderMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // A response that waits for an earlier one has no socket yet; one without a port tells nothing itself.
  const { socket } = response;
  setClock(response, stalledReaderMs);
  response.once('drain', resolve);
  response.once('close', resolve);
  socket?.once('drain', resolve);
  await promise;
  setClock(response, 0);
  response.off('drain', resolve);
  response.off('close', resolve);
  socket?.off('drain', resolve);
}

/** Cuts a connection whose reader does not take the end of an answer. One who takes it slowly gets it all. */
export function cutWhenStalled(response: ServerResponse, stalledReaderMs: number): void {
  if (response.writableLength > 0) setClock(response, stalledReaderMs);
}

/** The socket's own clock begins anew whenever something was taken, also of one long write, and cuts when it runs out. */
function setClock(response: ServerResponse, ms: number): void {
  const set = (socket: Partial<Socket>) => void socket.setTimeout?.(ms);
  if (response.socket !== null) set(response.socket);
  else if (ms > 0) response.once('socket', set);
}
