import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Starts the worker script next to this file, which is TypeScript in the sources and JavaScript in a build. */
export function startThread(script: 'writer-worker' | 'reader-worker', workerData?: unknown): Worker {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return new Worker(new URL(`./${script}${extension}`, import.meta.url), {
    name: `gateway-${script}`,
    workerData,
    env: { ...process.env, ...compileCache() },
  });
}

/** Threads use the compile cache only if their environment names it. */
function compileCache(): { NODE_COMPILE_CACHE?: string } {
  // Node appends a folder of its version to the one that is configured.
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

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
