import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import type { DaemonModule, ServeOptions } from '../shared/daemon-module.ts';
import { exitCodes } from '../shared/errors.ts';
import type * as Main from './main.ts';
import { runCachedScripts } from './process/cached-scripts.ts';
import { heapOptions } from './process/heap-options.ts';
import { startScript } from './worker-threads/start-script.ts';

const heap = heapOptions();

/** Later, V8 drops the code of functions that only the start calls. */
const saveAfterMs = 10_000;

// The entry of the built daemon. Node's own cache contains only what is compiled before a module runs, so that each start
// would compile all functions that it calls. Scripts can be cached later, with these functions.
function runScripts() {
  const main = fileURLToPath(new URL('./daemon-main.cjs', import.meta.url));
  // Some are loaded under load.
  const scripts = runCachedScripts(main, getCompileCacheDir(), heap.suspend);
  return { daemon: scripts.exports as typeof Main, save: scripts.save };
}

export async function serve(options: ServeOptions): Promise<number> {
  const writerThread = startWriterThread();
  const scripts = runScripts();
  /** Node itself writes its cache at the exit only, and not if the daemon is killed. */
  const save = () =>
    heap.suspend(() => {
      scripts.save();
      flushCompileCache();
    });
  const timer = setTimeout(save, saveAfterMs).unref();
  const exit = await scripts.daemon.serve({ ...options, heap, writerThread });
  clearTimeout(timer);
  if (exit === exitCodes.done) save();
  return exit;
}

/** The thread loads while this one runs the scripts. */
function startWriterThread(): Worker {
  const thread = startScript('writer-worker', import.meta.url, {});
  // Storage starts another one then, whose failure is reported.
  thread.on('error', () => {});
  // A start can fail before storage is opened.
  thread.unref();
  return thread;
}

export const restore: DaemonModule['restore'] = (options) => runScripts().daemon.restore(options);
export const copyStorage: DaemonModule['copyStorage'] = (options) => runScripts().daemon.copyStorage(options);
export const loadConfigTools: DaemonModule['loadConfigTools'] = () => runScripts().daemon.loadConfigTools();
