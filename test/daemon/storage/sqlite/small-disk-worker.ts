import { parentPort } from 'node:worker_threads';
import { serveWrites } from '../../../../src/daemon/storage/sqlite/engine/serve-writes.ts';

/** A writer's thread on a disk that has no room for more than a few pages. */
if (parentPort) {
  serveWrites(parentPort, {
    adjust: (database) => {
      const pages = Number(database.pragma('page_count', { simple: true }));
      database.pragma(`max_page_count = ${pages + 20}`);
    },
  });
}
