import { Worker } from 'node:worker_threads';

/** Starts a thread with a script beside this one: compiled or as it was written, like this one itself. */
export function startThread(script: 'writer-worker' | 'reader-worker', workerData?: unknown): Worker {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return new Worker(new URL(`./${script}${ending}`, import.meta.url), {
    name: `gateway-${script}`,
    workerData,
  });
}

/** Longer than any statement of a usual database; whoever stops the daemon waits no longer for a check of a huge one. */
const patienceMs = 2_000;

/**
 * Watches a thread from its start. What it gives resolves once a thread that was told to end has ended, and terminates one
 * that does not: only then, as V8 can take the whole process along where it terminates a thread in the middle of native code.
 */
export function endOf(worker: Worker): () => Promise<void> {
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  return async () => {
    const late = setTimeout(() => void worker.terminate(), patienceMs);
    await ended;
    clearTimeout(late);
  };
}
