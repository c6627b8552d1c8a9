import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Gives each connection an `error` listener when it is accepted. Node's HTTP server takes its own away when a request asks
 * for a tunnel or another protocol, and an error without a listener would end the process.
 */
export function outliveConnections(server: Server): void {
  server.on('connection', outlive);
}

/** The same for one connection. */
export function outlive(socket: Duplex): void {
  // A connection is handed to its server again if an offered protocol is not wanted.
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
}

/** Sockets destroy themselves on errors. */
function ignore(): void {}
