import { parentPort } from 'node:worker_threads';
import { createCommands } from '../write-commands.ts';
import { serveWrites } from './serve-writes.ts';

if (parentPort) serveWrites(parentPort, { createCommands });
