import { parentPort, workerData } from 'node:worker_threads';
import { openForReading } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import { serveReads } from '../../src/daemon/storage/sqlite/engine/serve-reads.ts';
import { longReads } from '../../src/daemon/storage/sqlite/long-reads.ts';
import { filePace } from '../../src/daemon/storage/sqlite/traces/scan-calls.ts';

/** A reader thread for which no time passes, so that no read of calls ends early on a busy machine. */
if (parentPort) {
  const { file } = workerData as { file: string };
  const database = openForReading(file);
  serveReads(parentPort, {
    reads: longReads(database, { ...filePace, now: () => 0 }),
    close: () => database.close(),
  });
}
