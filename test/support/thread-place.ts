import * as threads from 'node:worker_threads';

// Stands in for `node:worker_threads` in scripts that a thread runs one after the other.
export * from 'node:worker_threads';
export let parentPort: threads.MessagePort | null = threads.parentPort;
export let workerData: unknown = threads.workerData;

/** Gives scripts that are evaluated from now on another parent. */
export function occupy(port: threads.MessagePort, data: unknown): void {
  parentPort = port;
  workerData = data;
}
