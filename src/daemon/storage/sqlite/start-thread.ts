import type { Worker } from 'node:worker_threads';
import { startScript } from '../../worker-threads/start-script.ts';

/** Starts a thread of this folder. */
export function startThread(script: 'writer-worker' | 'reader-worker', workerData?: unknown): Worker {
  return startScript(script, import.meta.url, { workerData });
}
