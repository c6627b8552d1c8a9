import { parentPort, workerData } from 'node:worker_threads';
import { serveWrites, type WriterData } from './engine/serve-writes.ts';

if (parentPort) serveWrites(parentPort, workerData as WriterData);
