import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { responseOn } from './connection-errors.ts';

/**
 * Gives each connection an `error` listener when it is accepted. Node's HTTP server takes its own away when a request asks
 * for a tunnel or another protocol, and an error without a listener would end the process.
 */
export function outliveConnections(server: NetServer): void {
  server.on('connection', outlive);
}

/** The same for one connection. */
export function outlive(socket: Duplex): void {
  // A connection is handed to its server again if an offered protocol is not wanted.
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
}

/** Sockets destroy themselves on errors. */
function ignore(): void {}

/**
 * Closes connections whose time is over, as Node does without this, but idle ones only if no request has come: timers run before
 * sockets are read, and after a pause of this process, what arrived meanwhile has yet to be read.
 */
export function closeTimedOutConnections(server: Server): void {
  server.on('timeout', (socket) => {
    const response = responseOn(socket);
    if (response) {
      // The time limit of a response that says itself what follows.
      if (response.listenerCount('timeout') === 0) socket.destroy();
      return;
    }
    const { bytesRead } = socket;
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) socket.destroy();
    });
  });
}

/**
 * Closes the responses that wait behind another one when their connection closes. Node does so no longer once a request on
 * it asked for a tunnel or another protocol; they would wait forever.
 */
export function closeQueuedResponses(server: Server): void {
  for (const name of ['request', 'checkContinue', 'checkExpectation'])
    server.prependListener(name, closeWithConnection);
}

const queued = new WeakMap<Socket, Set<ServerResponse>>();

function closeWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  if (response.socket !== null) return;
  const waiting = queued.get(socket) ?? new Set();
  if (!queued.has(socket)) {
    queued.set(socket, waiting);
    socket.once('close', () => {
      for (const each of waiting) {
        each.destroy();
        each.emit('close');
      }
    });
  }
  waiting.add(response);
  response.once('socket', () => waiting.delete(response));
}
