import { parentPort, workerData } from 'node:worker_threads';
import { serveConnection } from './engine/server-connection.ts';
import { DatabaseServers } from './engine/servers.ts';
import type { ServeChannel } from './server.ts';

if (parentPort) {
  const port = parentPort;
  const servers = new DatabaseServers((workerData as { url: string }).url, (host) => port.postMessage(host));
  port.on('message', ({ channel, options }: ServeChannel) =>
    serveConnection(channel, { servers, ...options }),
  );
}
