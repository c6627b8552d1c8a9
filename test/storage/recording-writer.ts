import { appendFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { serveWrites } from '../../src/daemon/storage/sqlite/engine/serve-writes.ts';
import { createCommands } from '../../src/daemon/storage/sqlite/write-commands.ts';
import { recordStatements } from './record-statements.ts';

/** A writer thread that writes each statement that it prepares to a file, as a line of JSON. */
if (parentPort) {
  const { file } = workerData as { file: string };
  parentPort.once(
    'close',
    recordStatements((sql) => appendFileSync(file, `${JSON.stringify(sql)}\n`)),
  );
  serveWrites(parentPort, { createCommands });
}
