import type { IncomingMessage } from 'node:http';

export interface DiscardLimits {
  /** Without a byte for this long, the connection is closed. */
  lingerMs: number;
  /** After this long, it is closed in any case. */
  lingerTotalMs: number;
}

/**
 * Reads and discards the rest of a rejected body: a client whose connection is cut while it sends never sees the response.
 * The connection can be used again if the body ends within the limits.
 */
export function discardBody(request: IncomingMessage, { lingerMs, lingerTotalMs }: DiscardLimits): void {
  const { headers, socket } = request;
  if (request.complete !== false) return;
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return;
  let received = 0;
  const cut = () => {
    if (!request.complete) socket.destroy();
  };
  // Timers run before sockets are read: after a pause of this process, what arrived meanwhile has yet to be read.
  const cutIfIdle = () => {
    const before = received;
    setImmediate(() => {
      if (received === before) cut();
    });
  };
  const idle = setTimeout(cutIfIdle, lingerMs).unref();
  const total = setTimeout(cut, lingerTotalMs).unref();
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    idle.refresh();
  });
  request.once('close', () => {
    clearTimeout(idle);
    clearTimeout(total);
  });
  request.resume();
}
