import type { Worker } from 'node:worker_threads';

/** Longer than any usual statement; a stopping daemon does not wait for the check of a huge database. */
const exitTimeoutMs = 2_000;

/**
 * Returns a function that waits until a thread that was asked to end has ended, and terminates it only after a timeout:
 * terminating a thread inside native code can crash the whole process. Call this when the thread starts.
 */
export function exitWaiter(worker: Worker): () => Promise<void> {
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  return async () => {
    const timer = setTimeout(() => void worker.terminate(), exitTimeoutMs);
    await exited;
    clearTimeout(timer);
  };
}
