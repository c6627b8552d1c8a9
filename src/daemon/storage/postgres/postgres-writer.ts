import { parentPort, workerData } from 'node:worker_threads';
import type { ServerChannel } from './engine/messages.ts';
import { serveWrites } from './engine/serve-writes.ts';

if (parentPort) serveWrites(parentPort, workerData as { channel: ServerChannel; at: number });
