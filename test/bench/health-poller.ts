/** Asks a daemon whether it is alive, again and again, until its parent ends it: each answer's milliseconds are a message. */
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { httpCall, persistentAgent } from '../support/http-call.ts';

const agent = persistentAgent();
for (;;) {
  const start = performance.now();
  await httpCall(`${workerData}/healthz`, { method: 'GET', agent });
  parentPort?.postMessage(performance.now() - start);
  await wait(10);
}
