import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { StreamReply } from '../base/handler.ts';
import type { Log } from '../base/log.ts';
import type { HttpLimits } from './protection/limits.ts';

export const eventStreamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // `no-transform` and the last header keep proxies from compressing or buffering the stream.
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

const heartbeatComment = ': keep-alive\n\n';

export type EventStreamLimits = Pick<HttpLimits, 'heartbeatMs' | 'stalledReaderMs' | 'streamBufferBytesMax'>;

/** A connection that can be closed immediately. */
export interface Cuttable {
  destroy(): unknown;
}

/** A longer text is written in pieces, each after the one before was read: a text in flight takes three times its length. */
const pieceChars = 64 * 1024;

export interface EventStreamOptions {
  limits: EventStreamLimits;
  /** Whether to send headers before the first event, for streams that wait for something to happen. */
  startImmediately: boolean;
  /** Sent while nothing else is; a comment by default. */
  heartbeat?: string | undefined;
  /** Streams that wait for their reader; may be cut when memory is short. */
  stalled: Set<Cuttable>;
  /** Called once, when the response can no longer become an error status. */
  writeHead: () => void;
}

/** Writes a stream of events until it ends or the client leaves. Rejects with the stream's error. */
export async function writeEventStream(
  response: ServerResponse,
  { chunks }: StreamReply,
  { limits, startImmediately, heartbeat = heartbeatComment, stalled, writeHead }: EventStreamOptions,
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  let isWithinEvents = false;
  const start = () => {
    writeHead();
    timer = setInterval(() => {
      if (!isWithinEvents && response.writableLength === 0) response.write(heartbeat);
    }, limits.heartbeatMs);
  };
  try {
    if (startImmediately) {
      start();
      response.flushHeaders();
    }
    for (;;) {
      const { value, done } = await iterator.next();
      if (response.destroyed) return;
      const isFirst = timer === undefined;
      if (isFirst) start();
      if (done) break;
      if (value === '') {
        if (isFirst) response.write(heartbeat);
        continue;
      }
      timer?.refresh();
      isWithinEvents = true;
      for (const piece of piecesOf(value)) {
        // Text that waits is held as bytes: as a string it is still the many parts that it was joined of.
        response.write(response.writableLength > 0 ? Buffer.from(piece) : piece);
        if (response.writableLength <= limits.streamBufferBytesMax) continue;
        stalled.add(response);
        await drained(response, limits.stalledReaderMs);
        stalled.delete(response);
        if (response.destroyed) return;
      }
      isWithinEvents = false;
    }
    response.end();
    disconnectWhenStalled(response, limits.stalledReaderMs);
  } finally {
    clearInterval(timer);
    stalled.delete(response);
    // Runs the stream's `finally`, which settles the call even when the client has left.
    await iterator.return?.();
  }
}

/** Cuts the streams that wait for their reader: what they hold is the most memory that can be given up. */
export function cutStalled({ stalled, log }: { stalled: Set<Cuttable>; log: Log }): void {
  if (stalled.size === 0) return;
  log.warn({ streams: stalled.size }, 'memory is short: streams that are not read are closed');
  for (const stream of stalled) stream.destroy();
  stalled.clear();
}

/** Pieces of a text of events, each of whole events or of a part of one that is longer, and none ends within a character. */
export function piecesOf(text: string): string[] {
  if (text.length <= pieceChars) return [text];
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = endOfPiece(text, at);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

function endOfPiece(text: string, start: number): number {
  const end = start + pieceChars;
  if (end >= text.length) return text.length;
  const lastEvent = text.slice(start, end).lastIndexOf('\n\n');
  if (lastEvent >= 0) return start + lastEvent + 2;
  const isHigh = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHigh ? end + 1 : end;
}

/** Resolves when the client has read everything or left. A client that reads nothing is disconnected. */
async function drained(response: ServerResponse, stalledReaderMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // A response that waits for an earlier one has no socket yet; an injected one emits no events itself.
  const { socket } = response;
  setReadTimeout(response, stalledReaderMs);
  response.once('drain', resolve);
  response.once('close', resolve);
  socket?.once('drain', resolve);
  await promise;
  setReadTimeout(response, 0);
  response.off('drain', resolve);
  response.off('close', resolve);
  socket?.off('drain', resolve);
}

/** Disconnects a client that stops reading the end of a response. A slow client still gets all of it. */
export function disconnectWhenStalled(response: ServerResponse, stalledReaderMs: number): void {
  if (response.writableLength > 0) setReadTimeout(response, stalledReaderMs);
}

/** The socket's timeout restarts whenever bytes are read, even within one long write. */
function setReadTimeout(response: ServerResponse, ms: number): void {
  const set = (socket: Partial<Socket>) => void socket.setTimeout?.(ms);
  if (response.socket !== null) set(response.socket);
  else if (ms > 0) response.once('socket', set);
}
