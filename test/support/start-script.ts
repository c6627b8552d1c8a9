import { join, resolve } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Plugin } from 'rolldown';
import { bundle, threads } from './bundle.ts';
import { ReusedThread } from './reused-thread.ts';

const place = resolve('test/support/thread-place.ts');

/** Scripts get their parent from a module that can give them another one. */
const withPlace: Plugin = {
  name: 'thread-place',
  resolveId: (id, importer) =>
    id === 'node:worker_threads' && importer?.endsWith('.ts') && importer !== place ? place : null,
};

const folder = await bundle(
  {
    ...threads,
    'recording-writer': 'test/storage/recording-writer.ts',
    'unhurried-reader': 'test/storage/unhurried-reader.ts',
    'thread-host': 'test/support/thread-host.ts',
  },
  [withPlace],
);

/** Those that most tests start, and that end without leaving anything open. */
const reused =
  /^(writer-worker|reader-worker|recording-writer|unhurried-reader|server-worker|postgres-(writer|reader|stores))$/;

/** Stands in for the function of the daemon: starts the bundled script of a thread, which loads in a third of the time. */
export function startScript(script: string, _module: string, options: WorkerOptions): Worker {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compile-cache') };
  if (reused.test(script))
    return new ReusedThread(join(folder, 'thread-host.js'), script, { env, ...options }) as unknown as Worker;
  return new Worker(join(folder, `${script}.js`), { name: `gateway-${script}`, env, ...options });
}
