import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { addEmptyDatabase } from '../support/new-database.ts';

const clients = 64;
const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'tell',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'The sea is wide. '.repeat(12) },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 50, completion_tokens: 50, total_tokens: 100 },
};

function piece(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...answer, object: 'chat.completion.chunk', choices })}\n\n`;
}

const stream = [
  piece({ role: 'assistant', content: '' }),
  ...Array.from({ length: 50 }, (_, at) => piece({ content: ` word ${at}` })),
  piece({}, 'stop'),
  'data: [DONE]\n\n',
].join('');

async function startProvider(): Promise<string> {
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const text of incoming.setEncoding('utf8')) body += text;
    const isStream = body.includes('"stream":true');
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    response.end(isStream ? stream : JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Starts the built `gateway serve`, which prints each collection of garbage. */
async function startTraced(provider: string) {
  const home = await mkdtemp(join(tmpdir(), 'gateway-garbage-'));
  addEmptyDatabase(home);
  const upstream = `{name: fake, base_url: "${provider}", models: ["*"], wire: chat, prices: {input: "1", output: "2"}}`;
  await writeFile(
    join(home, 'config.yaml'),
    `shed_load: false\nlocal_servers: false\nupstreams: [${upstream}]\n`,
  );
  const traced = ['--trace-gc', '--trace-gc-nvp', 'bin/gateway.js', 'serve', '--port', '0'];
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

/** Bytes that collections of young objects moved to the old generation of the main thread, whose heap is collected first. */
function promotedBytes(trace: string, start: number): number {
  const mainHeap = trace.slice(0, trace.indexOf(']') + 1);
  const collections = trace
    .slice(start)
    .split('\n')
    .filter((line) => line.startsWith(mainHeap) && line.includes(' gc=s '));
  expect(collections.length).toBeGreaterThan(5);
  return collections.reduce((sum, line) => sum + Number(/ promoted=(\d+)/.exec(line)?.[1]), 0);
}

interface Kind {
  path: string;
  more: object;
  /** Whether each call has an `Idempotency-Key`. */
  isRepeatable?: boolean;
}

const prompt = 'Tell me of the sea. '.repeat(10);
const messages = [{ role: 'user', content: prompt }];
const kinds: readonly Kind[] = [
  { path: '/v1/chat/completions', more: { messages } },
  { path: '/v1/chat/completions', more: { messages, stream: true } },
  { path: '/v1/responses', more: { input: prompt, stream: true, store: false } },
  { path: '/v1/messages', more: { messages, max_tokens: 1_000 } },
  { path: '/v1/chat/completions', more: { messages }, isRepeatable: true },
];

test('calls leave nothing to the old generation', async () => {
  const daemon = await startTraced(await startProvider());
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  onTestFinished(() => agent.destroy());
  const call = async (number: number) => {
    const { path, more, isRepeatable } = kinds[number % kinds.length] as Kind;
    const asked = request(daemon.url + path, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${daemon.key}`,
        'content-type': 'application/json',
        ...(isRepeatable && { 'idempotency-key': `call-${number}` }),
      },
    });
    asked.end(JSON.stringify({ model: 'fake/tell', ...more }));
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
  const bytes = promotedBytes(daemon.trace(), warm) / 2_000;
  // A call allocates some 60 KB.
  expect(bytes).toBeLessThan(2_000);
});
