import type { MessagePort } from 'node:worker_threads';
import { occupy, parentPort } from './thread-place.ts';

/** A script to run, and what its thread was started with. */
export interface Use {
  script: string;
  port: MessagePort;
  workerData: unknown;
  env: NodeJS.ProcessEnv;
}

// Runs scripts of threads, one after the other. A script ends when its port closes.
const host = parentPort;
let uses = 0;
host?.on('message', async ({ script, port, workerData, env }: Use) => {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
  const ended = new Promise((resolve) => port.once('close', resolve));
  process.exit = (() => port.close()) as typeof process.exit;
  occupy(port, workerData);
  uses += 1;
  // Another address evaluates the script again; what it imports is shared.
  await import(`./${script}.js?${uses}`);
  await ended;
  host.postMessage('free');
});
