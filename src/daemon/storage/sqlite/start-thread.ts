import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '../thread-environment.ts';

/** Starts the script of a thread next to this file, which is TypeScript in the sources and JavaScript in a build. */
export function startThread(script: 'writer-worker' | 'reader-worker', workerData?: unknown): Worker {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return new Worker(new URL(`./${script}${extension}`, import.meta.url), {
    name: `gateway-${script}`,
    workerData,
    env: threadEnvironment(),
  });
}
