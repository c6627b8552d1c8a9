import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { answers, words } from '../support/chaos-behaviours.ts';
import { startChaosUpstream } from '../support/chaos-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { persistentAgent } from '../support/http-call.ts';
import { bodyOf, pathOf } from '../support/model-client.ts';
import { addEmptyDatabase } from '../support/new-database.ts';

const clients = 64;
const prompt = 'Tell me of the sea. '.repeat(10);
/** Starts the built `gateway serve`, which prints each collection of garbage. */
async function startTraced(provider: string) {
  const home = await mkdtemp(join(tmpdir(), 'gateway-garbage-'));
  addEmptyDatabase(home);
  const upstream = `{name: chat, base_url: "${provider}", models: ["*"], wire: chat, prices: {input: "1", output: "2"}}`;
  await writeFile(
    join(home, 'config.yaml'),
    `shed_load: false\nlocal_servers: false\nupstreams: [${upstream}]\n`,
  );
  const traced = ['--trace-gc', '--trace-gc-nvp', '--trace-deopt', 'bin/gateway.js', 'serve', '--port', '0'];
  const child = spawn(process.execPath, traced, {
    env: { PATH: process.env.PATH ?? '', GATEWAY_HOME: home, GATEWAY_PAYWALLS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(home, { recursive: true, force: true });
  });
  let trace = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    trace += text;
  });
  const read = (name: string) => readFile(join(home, name), 'utf8').catch(() => undefined);
  const { url } = JSON.parse(await eventually('daemon.json', () => read('daemon.json')));
  return { url, key: (await read('default-key'))?.trim(), trace: () => trace };
}

/** The collections of young objects in the heap of the main thread, which is collected first. */
function mainCollections(trace: string, start = 0): string[] {
  const mainHeap = trace.slice(0, trace.indexOf(']') + 1);
  return trace
    .slice(start)
    .split('\n')
    .filter((line) => line.startsWith(mainHeap) && line.includes(' gc=s '));
}

/** Bytes that each collection moved to the old generation, from the least to the most. */
function promotedBytes(trace: string, start: number): number[] {
  const bytes = mainCollections(trace, start).map((line) => Number(/ promoted=(\d+)/.exec(line)?.[1]));
  return bytes.sort((a, b) => a - b);
}

/** Why V8 threw optimized code away, and of which functions. */
function thrownAway(trace: string): string[] {
  const bailouts = trace.matchAll(
    /\[bailout \(kind: [^,]*, reason: ([^)]*)\): begin\. deoptimizing \w+ <JSFunction ([^(>]*)/g,
  );
  const dependents = trace.matchAll(
    /\[marking dependent code .*?SharedFunctionInfo ([^>]*)>.*?reason: ([^\]]*)\]/g,
  );
  return [
    ...[...bailouts].map(([, reason, name]) => `${name}: ${reason}`),
    ...[...dependents].map(([, name, reason]) => `${name}: ${reason}`),
  ];
}

const kinds: readonly { wire: keyof typeof pathOf; stream: boolean; isRepeatable?: boolean }[] = [
  { wire: 'chat', stream: false },
  { wire: 'chat', stream: true },
  { wire: 'responses', stream: true },
  { wire: 'messages', stream: false },
  { wire: 'chat', stream: false, isRepeatable: true },
];

test('the start copies what it keeps a few times only', async () => {
  const daemon = await startTraced('http://127.0.0.1:9');
  expect(mainCollections(daemon.trace()).length).toBeLessThan(5);
});

test('calls leave nothing to the old generation, and V8 keeps the code that it optimized for them', async () => {
  const chaos = await startChaosUpstream(answers({ text: words.repeat(3) }));
  onTestFinished(() => chaos.close());
  const daemon = await startTraced(chaos.baseUrl);
  const agent = persistentAgent({ maxSockets: clients });
  onTestFinished(() => agent.destroy());
  const call = async (number: number) => {
    const { wire, stream, isRepeatable } = kinds[number % kinds.length] as (typeof kinds)[number];
    const asked = request(daemon.url + pathOf[wire], {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${daemon.key}`,
        'content-type': 'application/json',
        ...(isRepeatable && { 'idempotency-key': `call-${number}` }),
      },
    });
    asked.end(JSON.stringify(bodyOf({ wire, model: 'chat/tell', stream, prompt })));
    const [response] = await once(asked, 'response');
    expect(response.statusCode).toBe(200);
    await once(response.resume(), 'end');
  };
  let sent = 0;
  const run = async (calls: number) => {
    const end = sent + calls;
    const client = async () => {
      while (sent < end) {
        sent += 1;
        await call(sent);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    return daemon.trace().length;
  };
  // V8 takes some thousand calls to optimize the code, and to learn how long objects live.
  const warm = await run(3_000);
  await run(2_000);
  const promoted = promotedBytes(daemon.trace(), warm);
  expect(promoted.length).toBeGreaterThan(10);
  // While this machine is busy, calls may wait through two collections, which then promote what is still running. What is
  // left behind after calls is promoted by every collection: 2.5 KB a call and more, where 0.3 are usual.
  const median = promoted[promoted.length >> 1] ?? 0;
  expect((median * promoted.length) / 2_000, `promoted: ${promoted}`).toBeLessThan(1_000);
  // What changes prototypes, or the shapes of objects, while calls are served throws away code by the hundred, and goes on doing so.
  const late = thrownAway(daemon.trace().slice(warm));
  expect(thrownAway(daemon.trace()).length).toBeLessThan(160);
  expect(late.length, late.join('\n')).toBeLessThan(80);
});
