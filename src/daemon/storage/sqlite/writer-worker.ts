import { parentPort } from 'node:worker_threads';
import { serveWrites } from './engine/serve-writes.ts';
import { createCommands } from './write-commands.ts';

if (parentPort) serveWrites(parentPort, { createCommands });
