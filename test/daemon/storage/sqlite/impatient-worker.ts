import { parentPort } from 'node:worker_threads';
import { serveWrites } from '../../../../src/daemon/storage/sqlite/engine/serve-writes.ts';
import { createCommands } from '../../../../src/daemon/storage/sqlite/write-commands.ts';

/** A writer thread that waits for no lock of another program. */
if (parentPort) {
  serveWrites(parentPort, { createCommands, onOpen: (database) => void database.pragma('busy_timeout = 0') });
}
