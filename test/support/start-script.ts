import { join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { bundle, threads } from './bundle.ts';

const folder = await bundle({
  ...threads,
  'recording-writer': 'test/storage/recording-writer.ts',
  'unhurried-reader': 'test/storage/unhurried-reader.ts',
});

/** Stands in for the function of the daemon: starts the bundled script of a thread, which loads in a third of the time. */
export function startScript(script: string, _module: string, options: WorkerOptions): Worker {
  return new Worker(join(folder, `${script}.js`), {
    name: `gateway-${script}`,
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compile-cache') },
    ...options,
  });
}
