import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Starts the script of a thread next to this file, which is TypeScript in the sources and JavaScript in a build. */
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
