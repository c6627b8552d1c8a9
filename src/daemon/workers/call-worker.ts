import { parentPort, workerData } from 'node:worker_threads';
import { serveCalls } from './serve-calls.ts';

// The thread of a worker: it serves model calls on the port of the daemon.
if (parentPort === null) throw new Error('this is the script of a thread');
await serveCalls(parentPort, workerData);
