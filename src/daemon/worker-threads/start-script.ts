import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { isMainThread, Worker, type WorkerOptions } from 'node:worker_threads';
import { aroundStart } from './thread-starts.ts';

/**
 * Starts the script of a thread that lies beside `module`, the URL of a module: both are TypeScript in the sources and JavaScript
 * in a build.
 */
export function startScript(script: string, module: string, options: WorkerOptions): Worker {
  leaveLostFolder();
  const extension = module.endsWith('.ts') ? '.ts' : '.js';
  const url = new URL(`./${script}${extension}`, module);
  const all = { name: `gateway-${script}`, env: threadEnvironment(), ...options };
  return aroundStart(() => new Worker(url, all));
}

/** No thread starts in a folder that was deleted. */
function leaveLostFolder(): void {
  if (!isMainThread) return;
  try {
    // Node remembers its name, which tells nothing of the folder.
    process.chdir(process.cwd());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') process.chdir('/');
  }
}

/** The environment of a thread, which uses the compile cache only if its environment names it. */
function threadEnvironment(): NodeJS.ProcessEnv {
  // Node appends a folder of its version to the one that is configured.
  const folder = getCompileCacheDir();
  return { ...process.env, ...(folder !== undefined && { NODE_COMPILE_CACHE: dirname(folder) }) };
}
