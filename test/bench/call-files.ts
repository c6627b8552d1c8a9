/** Lists the files of `src` that one streamed call runs in the main thread, with their functions: what a reader of it opens. */

import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startDaemon } from '../support/start-daemon.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Longer than what the start and the first calls leave to be done. */
const settledMs = 2500;

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const daemon = await startDaemon();

async function call(): Promise<void> {
  const json = { model: 'sim/echo', input: 'hello', stream: true };
  const answer = await daemon.fetch('/v1/responses', { json });
  const text = await answer.text();
  if (!text.includes('response.completed')) throw new Error(text);
}

await call();
await sleep(settledMs);
// Each reading starts the counts again.
await session.post('Profiler.takePreciseCoverage');
await call();
const { result } = await session.post('Profiler.takePreciseCoverage');
await daemon.stop();

const lines: string[] = [];
for (const { url, functions } of result) {
  if (!url.startsWith('file:')) continue;
  const path = relative(root, fileURLToPath(url));
  // The first range of a file is its body, which runs when it is loaded.
  const ran = functions.filter(({ ranges: [range] }) => range && range.count > 0 && range.startOffset > 0);
  if (!path.startsWith('src/') || ran.length === 0) continue;
  lines.push(`${path}: ${ran.map(({ functionName }) => functionName || '(unnamed)').join(', ')}`);
}
process.stdout.write(`${lines.sort().join('\n')}\n${lines.length} files\n`);
