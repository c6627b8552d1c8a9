import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callModel } from '../support/model-client.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Which of three providers are asked, what the caller gets, and what it costs. */

type Json = Record<string, unknown>;
type Name = 'a' | 'b' | 'c';
type Does = (reply: ServerResponse, stream: boolean) => void;

let daemon: RunningDaemon;
let fake: Server;
let does: Partial<Record<Name, Does>> = {};
const asked: string[] = [];
let models = 0;

const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const head = { id: 'c', created: 1, model: 'm' };
const chunk = (delta: Json, finish: string | null = null, more: Json = {}) => {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
};

const answers: Does = (reply, stream) => {
  reply.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  const message = { role: 'assistant', content: 'Hi.' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const whole = { ...head, object: 'chat.completion', choices, usage };
  reply.end(stream ? `${chunk(message, 'stop', { usage })}data: [DONE]\n\n` : JSON.stringify(whole));
};

const refuses =
  (status: number, error: Json = { message: 'No.' }, headers: Record<string, string> = {}): Does =>
  (reply) => {
    reply.writeHead(status, { 'content-type': 'application/json', ...headers });
    reply.end(JSON.stringify({ error }));
  };

/** Sends the beginning of a stream, and nothing more. */
const begins =
  (...chunks: string[]): Does =>
  (reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.write(chunks.join(''));
  };

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    if (request.method === 'GET') return void reply.end('{"data":[]}');
    const name = (request.url ?? '').charAt(1) as Name;
    asked.push(name);
    (does[name] ?? answers)(reply, (JSON.parse(body) as Json).stream === true);
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const origin = `http://127.0.0.1:${(fake.address() as AddressInfo).port}`;
  const upstreams = ['a', 'b', 'c'].map((name) => {
    const prices = { input: '1', output: '2' };
    return { name, base_url: `${origin}/${name}`, models: ['*'], wire: 'chat', prices };
  });
  const fallbacks = { 'a/cycle': ['b/cycle'], 'b/cycle': ['a/cycle'] };
  daemon = await startDaemon({
    config: `upstreams: ${JSON.stringify(upstreams)}\nfallbacks: ${JSON.stringify(fallbacks)}\n`,
  });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

beforeEach(async () => {
  does = {};
  // What was benched before is over, and an account after a success.
  daemon.advance(600_000);
  for (const name of ['a', 'b', 'c']) await call(`${name}/well`);
});

async function call(model: string, more: Json = {}) {
  asked.splice(0);
  const messages = [{ role: 'user', content: 'Hi' }];
  const reply = await daemon.fetch('/v1/chat/completions', { json: { model, messages, ...more } });
  const text = await reply.text();
  const json = text.startsWith('{') ? (JSON.parse(text) as { error?: Json }) : undefined;
  return {
    status: reply.status,
    text,
    code: json?.error?.code,
    headers: reply.headers,
    asked: asked.join(''),
  };
}

const model = () => `a/m${++models}`;
const elsewhere = { service: { fallbacks: ['b/m', 'c/m'] } };

describe('a provider that refuses', () => {
  test.each<[cite: string, Does]>([
    ['diegosouzapw/OmniRoute#14590', refuses(402, { message: 'Insufficient balance' })],
    ['BerriAI/litellm#16092', refuses(400, { message: 'Your credit balance is too low to access the API.' })],
    ['api7/aisix#46', refuses(429, { message: 'Slow down.' }, { 'retry-after': '30' })],
  ])('is left, and left out of the next call (%s)', async (_cite, refusal) => {
    const name = model();
    does = { a: refusal };
    expect(await call(name, elsewhere)).toMatchObject({ status: 200, asked: 'ab' });
    expect(await call(name, elsewhere)).toMatchObject({ status: 200, asked: 'b' });
  });

  // openclaw/openclaw#23516: calls that go elsewhere do not extend the wait.
  test('is asked again when it said', async () => {
    const name = model();
    does = { a: refuses(429, { message: 'Slow down.' }, { 'retry-after': '10' }) };
    await call(name, elsewhere);
    does = {};
    daemon.advance(8_000);
    expect((await call(name, elsewhere)).asked).toBe('b');
    daemon.advance(3_000);
    expect((await call(name, elsewhere)).asked).toBe('a');
  });

  // anomalyco/opencode#29055, anomalyco/opencode#29143
  test('is asked once, though fallbacks lead back to it', async () => {
    does = { a: refuses(500), b: refuses(500) };
    expect(await call('a/cycle')).toMatchObject({ status: 502, asked: 'ab' });
  });

  // Continuum-AI-Corp/OrcaRouter-Lite#121
  test('is still asked if all others refuse, too', async () => {
    const name = model();
    const slow = (seconds: string) => refuses(429, { message: 'Slow down.' }, { 'retry-after': seconds });
    does = { a: slow('40'), b: slow('20'), c: slow('30') };
    for (const _call of [1, 2]) {
      const { status, code, headers, asked: providers } = await call(name, elsewhere);
      expect([status, code, headers.get('retry-after'), providers]).toEqual([
        429,
        'rate_limited',
        '20',
        'abc',
      ]);
    }
  });
});

// BerriAI/litellm#5225: what is wrong with one request keeps no provider from the next.
test('a filtered prompt benches no one, nor keeps a provider benched that has recovered', async () => {
  const filtered = refuses(400, { code: 'content_filter', message: 'The prompt was filtered.' });
  const name = model();
  does = { a: filtered };
  expect(await call(name)).toMatchObject({ status: 400, code: 'content_filter' });
  does = { a: refuses(402, { message: 'Insufficient balance' }) };
  expect((await call(name)).status).toBe(502);
  daemon.advance(16_000);
  does = { a: filtered };
  expect(await call(name)).toMatchObject({ status: 400, code: 'content_filter', asked: 'a' });
  does = {};
  expect(await call(name)).toMatchObject({ status: 200, asked: 'a' });
});

describe('a stream', () => {
  const stream = { stream: true, ...elsewhere };
  const error = `data: ${JSON.stringify({ error: { message: 'Overloaded.', code: 529 } })}\n\n`;

  // manaflow-ai/subrouter#233, KarpelesLab/teamclaude#391
  test('that begins with an error is answered by another provider', async () => {
    does = { a: begins(chunk({ role: 'assistant', content: '' }), error) };
    const { text, asked: providers } = await call(model(), stream);
    expect([providers, text.includes('Hi.'), text.includes('Overloaded')]).toEqual(['ab', true, false]);
  });

  // Portkey-AI/gateway#1797
  test('that is cut does not look complete', async () => {
    does = {
      a: (reply) => {
        begins(chunk({ content: 'Half' }))(reply, true);
        reply.end();
      },
    };
    const { text, asked: providers } = await call(model(), stream);
    expect(providers).toBe('a');
    expect(text).toContain('upstream_failed');
  });
});

describe('a stream that the client leaves', () => {
  const counted = (prompt: number, completion: number) =>
    chunk({ content: 'Hello' }, null, {
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    });

  test.each<[cite: string, first: string, tokens: Json]>([
    // bitrouter/bitrouter#537, theopenco/llmgateway#3331: the prompt is charged, too.
    ['bitrouter/bitrouter#537', chunk({ content: 'Hello' }), { input: expect.any(Number), output: 2 }],
    ['BerriAI/litellm#37992', counted(0, 0), { input: 0, output: 0 }],
    ['BerriAI/litellm#33736', counted(812, 2), { input: 812, output: 2 }],
  ])('is charged for what came (%s)', async (_cite, first, tokens) => {
    does = { a: begins(first) };
    const answer = callModel(daemon, { wire: 'chat', model: model(), stream: true });
    await answer.receives('Hello');
    answer.disconnect();
    const id = answer.headers['x-request-id'];
    const read = async () => (await daemon.fetch(`/v1/usage/${id}`)).json();
    await expect.poll(read).toMatchObject({ status: 'canceled', tokens });
    const { tokens: settled } = (await read()) as { tokens: { input: number } };
    expect(settled.input > 0).toBe(tokens.input !== 0);
  });
});
