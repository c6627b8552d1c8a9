import { parentPort, workerData } from 'node:worker_threads';
import type { BackupTask } from '../sqlite/backups/back-up.ts';
import { serveReads } from '../sqlite/engine/serve-reads.ts';
import { backUpServer } from './copy/back-up-server.ts';
import { isConnectionLost, postgresCode } from './engine/errors.ts';

if (parentPort) {
  const { url } = workerData as { url: string };
  serveReads(parentPort, {
    reads: {
      backup: (task: BackupTask, onProgress: Parameters<typeof backUpServer>[2]) =>
        backUpServer(url, task, onProgress),
    },
    close: () => {},
    isUnavailable: (error) => isConnectionLost(postgresCode(error)),
  });
}
