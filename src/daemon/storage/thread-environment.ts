import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** The environment of a thread, which uses the compile cache only if its environment names it. */
export function threadEnvironment(): NodeJS.ProcessEnv {
  // Node appends a folder of its version to the one that is configured.
  const folder = getCompileCacheDir();
  return { ...process.env, ...(folder !== undefined && { NODE_COMPILE_CACHE: dirname(folder) }) };
}
