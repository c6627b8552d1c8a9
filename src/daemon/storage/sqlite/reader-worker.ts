import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { openForReading } from './engine/connection.ts';
import { serveReads } from './engine/serve-reads.ts';
import { longReads } from './long-reads.ts';

if (parentPort) {
  const { file, hasLowPriority } = workerData as { file: string; hasLowPriority: boolean };
  // Linux applies this to the calling thread, other systems to the whole process.
  if (hasLowPriority && process.platform === 'linux')
    setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  const database = openForReading(file);
  serveReads(parentPort, { reads: longReads(database), close: () => database.close() });
}
