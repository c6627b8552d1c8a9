import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { type ChildDaemon, type ChildOptions, startChildDaemon } from './child-daemon.ts';
import { counting } from './count-steps.ts';
import { contracts, daemonScripts } from './programs.ts';

/**
 * Starts a daemon in a child process that counts its steps: how often functions are called and loops turn, and how much is built
 * at once, in all threads. What a database does is not counted.
 */
export async function startCountedDaemon(options: ChildOptions): Promise<ChildDaemon> {
  const scripts = { 'step-counter': 'test/support/step-counter.ts', ...daemonScripts };
  const folder = await bundle(scripts, [contracts, counting], "import './step-counter.js';");
  return await startChildDaemon({ ...options, script: join(folder, 'serve-child.js') });
}
