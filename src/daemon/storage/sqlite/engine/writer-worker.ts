import { parentPort } from 'node:worker_threads';
import { serveWrites } from './serve-writes.ts';

if (parentPort) serveWrites(parentPort);
