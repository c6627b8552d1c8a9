import type { Worker } from 'node:worker_threads';
import { startScript } from '../../worker-threads/start-script.ts';
import type { ToWriter } from './engine/serve-writes.ts';

/** The `threadId` of a thread that has ended. */
const ended = -1;

/** Starts a thread of this folder. */
export function startThread(script: 'writer-worker' | 'reader-worker', workerData?: unknown): Worker {
  return startScript(script, import.meta.url, { workerData });
}

/** Returns the writer thread that was started before and keeps the process alive from now on, or starts one. */
export function startedWriter(started: Worker | undefined): Worker {
  if (started === undefined || started.threadId === ended) return startThread('writer-worker');
  started.ref();
  return started;
}

/** Ends a writer thread for which there is no database to open. */
export function endUnusedWriter(started: Worker): void {
  started.postMessage({ end: true } satisfies ToWriter);
}
