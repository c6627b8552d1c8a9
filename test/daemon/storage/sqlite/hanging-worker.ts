import { parentPort } from 'node:worker_threads';
import { serveWrites } from '../../../../src/daemon/storage/sqlite/engine/serve-writes.ts';
import { createCommands } from '../../../../src/daemon/storage/sqlite/write-commands.ts';

/** A writer thread that never returns from a hold. */
if (parentPort) {
  serveWrites(parentPort, {
    createCommands: (database) => {
      const source = createCommands(database);
      const commands = {
        ...source.commands,
        'metering.hold': () => {
          for (;;);
        },
      };
      return { ...source, commands };
    },
  });
}
