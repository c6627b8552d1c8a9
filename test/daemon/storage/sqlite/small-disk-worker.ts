import { parentPort } from 'node:worker_threads';
import { serveWrites } from '../../../../src/daemon/storage/sqlite/engine/serve-writes.ts';
import { createCommands } from '../../../../src/daemon/storage/sqlite/write-commands.ts';

/** A writer thread whose disk has space for only a few more pages. */
if (parentPort) {
  serveWrites(parentPort, {
    createCommands,
    onOpen: (database) => {
      const pages = Number(database.pragma('page_count', { simple: true }));
      database.pragma(`max_page_count = ${pages + 20}`);
    },
  });
}
