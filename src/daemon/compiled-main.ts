import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { DaemonModule, ServeOptions } from '../shared/daemon-module.ts';
import { exitCodes } from '../shared/errors.ts';
import { runCachedScripts } from './process/cached-scripts.ts';
import { heapOptions } from './process/heap-options.ts';

const heap = heapOptions();

// The entry of the built daemon. Node's own cache contains only what is compiled before a module runs, so that each start
// would compile all functions that it calls. Scripts can be cached later, with these functions.
const main = fileURLToPath(new URL('./daemon-main.cjs', import.meta.url));
// Some are loaded under load.
const scripts = runCachedScripts(main, getCompileCacheDir(), heap.suspend);
const daemon = scripts.exports as DaemonModule;

/** Later, V8 drops the code of functions that only the start calls. */
const saveAfterMs = 10_000;

/** Node itself writes its cache at the exit only, and not if the daemon is killed. */
const save = () =>
  heap.suspend(() => {
    scripts.save();
    flushCompileCache();
  });

export async function serve(options: ServeOptions): Promise<number> {
  const timer = setTimeout(save, saveAfterMs).unref();
  const exit = await daemon.serve({ ...options, whileServing: heap.apply });
  clearTimeout(timer);
  if (exit === exitCodes.done) save();
  return exit;
}

export const { restore, copyStorage, loadConfigTools } = daemon;
