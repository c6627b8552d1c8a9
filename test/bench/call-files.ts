/**
 * Lists the files of `src` that one streamed call runs in the main thread, with their functions: what a reader of it opens.
 * `npm run call-files` shows those of a Responses call, `npm run call-files -- chat` those of a chat completion.
 */
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDaemon } from '../support/start-daemon.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What runs in each of these calls is the call's; what the daemon does now and then is not. */
const calls = 5;

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const daemon = await startDaemon();
const [path, asked] =
  process.argv[2] === 'chat'
    ? ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hello' }] }]
    : ['/v1/responses', { input: 'hello' }];

async function call(): Promise<void> {
  const answer = await daemon.fetch(path, { json: { model: 'sim/echo', stream: true, ...asked } });
  const text = await answer.text();
  if (!/response\.completed|\[DONE\]/.test(text)) throw new Error(text);
}

/** The functions that ran since the last reading, by file. Each reading starts the counts again. */
async function functionsRun(): Promise<Map<string, Set<string>>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = new Map<string, Set<string>>();
  for (const { url, functions } of result) {
    const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)) : '';
    // The first range of a file is its body, which runs when it is loaded.
    const named = functions.flatMap(({ functionName, ranges: [range] }) =>
      range && range.count > 0 && range.startOffset > 0
        ? [`${functionName || '(unnamed)'} ${range.startOffset}`]
        : [],
    );
    if (file.startsWith('src/') && named.length > 0) ran.set(file, new Set(named));
  }
  return ran;
}

// The first ones prepare what later ones use.
await call();
await call();
await functionsRun();
await call();
const ran = await functionsRun();
for (let more = 1; more < calls; more += 1) {
  await call();
  const again = await functionsRun();
  for (const [file, functions] of ran) {
    const both = new Set([...functions].filter((name) => again.get(file)?.has(name)));
    if (both.size > 0) ran.set(file, both);
    else ran.delete(file);
  }
}
await daemon.stop();

const namesOf = (functions: ReadonlySet<string>) => [...functions].map((name) => name.replace(/ \d+$/, ''));
const lines = [...ran].map(([file, functions]) => `${file}: ${namesOf(functions).join(', ')}`).sort();
process.stdout.write(`${lines.join('\n')}\n${lines.length} files\n`);
