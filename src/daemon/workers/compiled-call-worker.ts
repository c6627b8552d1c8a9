import { getCompileCacheDir } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { runCachedScripts } from '../process/cached-scripts.ts';
import type { serveCalls } from './serve-calls.ts';

// The entry of a worker in a build: it runs the scripts that the main thread runs.
const main = fileURLToPath(new URL('./daemon-main.cjs', import.meta.url));
const daemon = runCachedScripts(main, getCompileCacheDir()).exports as {
  loadCallWorker(): Promise<{ serveCalls: typeof serveCalls }>;
};
if (parentPort === null) throw new Error('this is the script of a thread');
const { serveCalls: serve } = await daemon.loadCallWorker();
await serve(parentPort, workerData);
