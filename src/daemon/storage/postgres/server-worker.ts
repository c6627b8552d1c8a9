import { parentPort, workerData } from 'node:worker_threads';
import { serveConnection } from './engine/server-connection.ts';
import type { ServeChannel } from './server.ts';

if (parentPort) {
  const { url } = workerData as { url: string };
  parentPort.on('message', ({ channel, options }: ServeChannel) =>
    serveConnection(channel, { url, ...options }),
  );
}
