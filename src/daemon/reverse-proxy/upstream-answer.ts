import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { outlive } from '../http/connection-errors.ts';
import { whenLate } from '../runtime/when-late.ts';

/** The upstream did not begin to respond within the time of its paywall. */
export class UpstreamTimeout extends Error {}

/** The head of an upstream's response. */
export interface BegunAnswer {
  answer: IncomingMessage;
  /** Set if the upstream switched protocols. */
  upgraded: { socket: Socket; head: Buffer } | undefined;
}

/**
 * Resolves when the upstream begins to respond. Its listeners only pass on what happened, so that whatever the answer leads
 * to is thrown where it is awaited.
 */
export async function answerOf(asked: ClientRequest, timeoutMs: number): Promise<BegunAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<BegunAnswer>();
  asked.on('error', reject);
  asked.once('response', (answer) => resolve({ answer, upgraded: undefined }));
  asked.once('upgrade', (answer, socket, head) => {
    outlive(socket);
    resolve({ answer, upgraded: { socket: socket as Socket, head } });
  });
  const waits: (() => void)[] = [];
  const tooLate = () => {
    asked.destroy(new UpstreamTimeout('it did not respond in time'));
  };
  const waitForHead = () => {
    waits.push(whenLate(timeoutMs, tooLate));
  };
  const waitForBytes = () => {
    const sent = asked.socket?.bytesWritten;
    const endIfSilent = () => {
      if (asked.socket?.bytesWritten === sent) tooLate();
    };
    waits.push(whenLate(0, endIfSilent));
  };
  // The client may send for long, as long as bytes pass; the head of the answer comes in one piece.
  asked.on('timeout', waitForBytes);
  asked.on('finish', waitForHead);
  try {
    return await promise;
  } finally {
    for (const end of waits) end();
    asked.off('timeout', waitForBytes).off('finish', waitForHead);
    asked.setTimeout(0);
  }
}

/** Closes a connection whose other side has not read anything of what waits for it for this long. */
export function cutStalled(socket: Socket, ms: number): void {
  socket.setTimeout(ms, () => {
    if (socket.writableLength > 0) socket.destroy();
  });
}
