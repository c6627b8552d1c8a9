import { Worker } from 'node:worker_threads';

/** Starts a thread with a script beside this one: compiled or as it was written, like this one itself. */
export function startThread(script: 'writer-worker' | 'reader-worker', workerData?: unknown): Worker {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return new Worker(new URL(`./${script}${ending}`, import.meta.url), {
    name: `gateway-${script}`,
    workerData,
  });
}
