import { parentPort, workerData } from 'node:worker_threads';
import { serveReads } from '../sqlite/engine/serve-reads.ts';
import { longReads } from '../sqlite/long-reads.ts';
import { serverPace } from '../sqlite/traces/scan-calls.ts';
import { asSqliteConnection, openConnection } from './engine/connection.ts';
import { isConnectionLost, postgresCode } from './engine/errors.ts';
import type { ServerChannel } from './engine/messages.ts';

if (parentPort) {
  const connection = openConnection((workerData as { channel: ServerChannel }).channel, { isRenewed: true });
  serveReads(parentPort, {
    reads: longReads(asSqliteConnection(connection), serverPace),
    close: () => connection.close(),
    isUnavailable: (error) => isConnectionLost(postgresCode(error)),
  });
}
