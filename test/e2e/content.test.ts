import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { TraceContent } from '../../src/shared/contract/content.ts';
import type { TraceView } from '../../src/shared/contract/traces.ts';
import { signUpAgent } from '../support/agents.ts';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { openSocket } from '../support/socket-client.ts';

const providerKey = 'sk-PROVIDERKEYCANARY0123456789abcdefghij';
const otherKey = 'sk-OTHERKEYCANARY0123456789abcdefghijklmn';

let fake: FakeOpenAi;
let place: DaemonWithStranger;

beforeAll(async () => {
  fake = await startFakeOpenAi();
  place = await startWithStranger({
    config: `upstreams:
  - { name: up, base_url: "${fake.baseUrl}", models: ["*"], key_env: UP_KEY }
  - { name: back, base_url: "${fake.baseUrl}", models: ["*"], key_env: UP_KEY }
  - { name: free, base_url: "${fake.baseUrl}", models: ["*"], key_env: UP_KEY, prices: { input: "0", output: "0" } }
aliases: { both: [up/any, back/any] }
`,
    env: { UP_KEY: providerKey },
  });
});

afterAll(async () => {
  await place.daemon.stop();
  await fake.close();
});

const hello = (content = 'Hello') => ({ messages: [{ role: 'user', content }] });

interface Sent {
  path?: string;
  key?: string;
  headers?: Record<string, string>;
}

/** Makes a call, reads its answer, and returns the id of the request. */
async function call(
  json: object,
  { path = '/v1/chat/completions', key, headers }: Sent = {},
): Promise<string> {
  const reply = await place.daemon.fetch(path, {
    json: { model: 'up/any', ...json },
    headers: { authorization: `Bearer ${key ?? place.daemon.key}`, ...headers },
  });
  await reply.text();
  return reply.headers.get('x-request-id') as string;
}

async function get<T>(path: string, secret = place.daemon.login, method = 'GET') {
  const reply = await place.daemon.fetch(path, { method, headers: { authorization: `Bearer ${secret}` } });
  return { status: reply.status, body: (await reply.json()) as T };
}

const contentOf = async (request: string, query = '') =>
  (await get<TraceContent>(`/v1/traces/${request}/content${query}`)).body;

const json = (text: { text: string } | null | undefined) => JSON.parse(text?.text ?? 'null');
const headerIn = (headers: { name: string; value: string }[] | undefined, name: string) =>
  headers?.find((header) => header.name === name)?.value;

describe('the content of a call', () => {
  test.each([
    ['/v1/chat/completions', hello(), 'choices'],
    ['/v1/messages', { ...hello(), max_tokens: 100 }, 'content'],
    ['/v1/responses', { input: 'Hello' }, 'output'],
  ])('of %s, whole and as a stream', async (path, body, member) => {
    for (const stream of [false, true]) {
      fake.script({ text: 'A word of thanks.' });
      const request = await call({ ...body, stream }, { path, headers: { 'user-agent': 'tool/1.2' } });
      const content = await contentOf(request);
      expect(content).toMatchObject({
        request_id: request,
        endpoint: path,
        level: 'memory',
        is_complete: true,
      });
      expect(json(content.request?.body)).toEqual({ model: 'up/any', ...body, stream });
      expect(headerIn(content.request?.headers, 'user-agent')).toBe('tool/1.2');
      expect(headerIn(content.request?.headers, 'authorization')).toBe('[removed]');
      const [attempt, ...others] = content.attempts ?? [];
      expect(others).toEqual([]);
      expect(attempt).toMatchObject({ provider: 'up', status: 200, response_body: null });
      expect(attempt?.url).toContain(fake.baseUrl);
      expect(json(attempt?.body)).toMatchObject({ model: 'any' });
      expect(headerIn(attempt?.headers, 'authorization')).toBe('[removed]');
      expect(headerIn(attempt?.response_headers, 'content-type')).toMatch(/json|event-stream/);
      expect(content.answer?.streamed).toBe(stream);
      expect(JSON.stringify(json(content.answer?.body)[member])).toContain('A word of thanks.');
      if (!stream) expect(content.reads).toBeNull();
      else {
        const characters = content.reads?.reduce((sum, read) => sum + read.characters, 0);
        expect(characters).toBe('A word of thanks.'.length);
        expect(content.reads?.every(({ ms, bytes }) => ms >= 0 && bytes > 0)).toBe(true);
      }
    }
  });

  test('is what its trace says, alone and in lists', async () => {
    fake.script({ text: 'Kept.' }, { text: 'Not kept.' });
    const kept = await call({ ...hello(), stream: true });
    const unkept = await call(hello(), { headers: { 'x-service-capture': 'off' } });
    const states = {
      [kept]: { state: 'memory', parts: ['request', 'attempts', 'answer', 'timing'] },
      [unkept]: { state: 'none', parts: [] },
    };
    for (const request of [kept, unkept])
      expect((await get(`/v1/traces/${request}`)).body).toMatchObject({ captured: states[request] });
    // A list does not wait for it for long.
    const listed = await eventually('what is kept of both', async () => {
      const { body } = await get<{ data: TraceView[] }>('/v1/traces?limit=2&fields=brief');
      return body.data.every(({ captured }) => captured !== null) && body.data;
    });
    expect(Object.fromEntries(listed.map((trace) => [trace.request_id, trace.captured]))).toEqual(states);
  });

  test('has every attempt, and what a provider answered that refused', async () => {
    fake.script({ error: { status: 500, message: 'Out of order.' } }, { text: 'Hi.' });
    const { attempts } = await contentOf(await call({ ...hello(), model: 'both' }), '?part=attempts');
    expect(attempts?.map(({ provider, status }) => [provider, status])).toEqual([
      ['up', 500],
      ['back', 200],
    ]);
    expect(json(attempts?.[0]?.response_body)).toMatchObject({ error: { message: 'Out of order.' } });
  });

  test('of a stream that breaks off has what there was, and the error', async () => {
    fake.script({ text: 'One two three four five.', breakAfter: { events: 3, by: 'error' } });
    const { answer } = await contentOf(await call({ ...hello(), stream: true }));
    expect(json(answer?.body)).toMatchObject({
      choices: [{ message: { content: expect.stringContaining('One') } }],
      error: { message: expect.any(String) },
    });
  });

  test('of a rejected call has its body, whether it was read or not, and the error that its client got', async () => {
    const rejected = [
      { path: '/v1/chat/completions', body: { ...hello('Who?'), model: 'nobody/none' } },
      { path: '/v1/chat/completions', body: { model: 'up/any', messages: 'none' } },
      { path: '/v1/messages', body: { ...hello('Who?'), model: 'nobody/none', max_tokens: 9, stream: true } },
    ];
    for (const { path, body } of rejected) {
      const reply = await place.daemon.fetch(path, {
        json: body,
        headers: { authorization: `Bearer ${place.daemon.key}` },
      });
      const got = await reply.text();
      expect(reply.status).toBeGreaterThanOrEqual(400);
      const { request, answer } = await contentOf(reply.headers.get('x-request-id') as string);
      expect(json(request?.body)).toEqual(body);
      expect(answer).toMatchObject({ streamed: false, body: { text: got } });
    }
  });

  test.each(['/v1/chat/completions', '/v1/messages', '/v1/responses'])(
    'of a failed call to %s has the error that its client got, without credentials',
    async (path) => {
      for (const stream of [false, true]) {
        fake.script({ error: { status: 500, message: `Out of order: ${otherKey}` } });
        const reply = await place.daemon.fetch(path, {
          json: {
            model: 'up/any',
            max_tokens: 16,
            ...(path === '/v1/responses' ? { input: 'Hi' } : hello('Hi')),
            stream,
          },
          headers: { authorization: `Bearer ${place.daemon.key}` },
        });
        const got = await reply.text();
        expect(reply.status).toBe(502);
        const { answer } = await contentOf(reply.headers.get('x-request-id') as string);
        expect(answer).toMatchObject({ streamed: false, body: { text: got } });
        expect(json(answer?.body)).toMatchObject({ error: { message: expect.any(String) } });
        expect(got).not.toContain(otherKey);
      }
    },
  );

  test('comes in pages that give the text again', async () => {
    const text = 'äöü😀'.repeat(900);
    const request = await call(hello(text));
    let body = '';
    let at: number | null = 0;
    while (at !== null) {
      const page: TraceContent = await contentOf(request, `?part=request&limit=1001&at=${at}`);
      expect([page.answer, page.attempts, page.reads]).toEqual([null, null, null]);
      body += page.request?.body?.text;
      at = page.request?.body?.next ?? null;
    }
    expect(JSON.parse(body)).toEqual({ model: 'up/any', ...hello(text) });
  });
});

test('of a long stream is whole, although it is handed over in pieces', async () => {
  const text = 'All of this is kept, word by word. '.repeat(1_000);
  fake.script({ text });
  const { answer, reads } = await contentOf(await call({ ...hello(), stream: true }));
  expect(answer).toMatchObject({ is_cut: false, body: { is_partial: false } });
  expect(json(answer?.body).choices[0].message.content).toBe(text);
  expect(reads?.reduce((sum, { characters }) => sum + characters, 0)).toBe(text.length);
});

test('of a call over a WebSocket, and of a background response', async () => {
  const newest = async () =>
    (await get<{ data: { request_id: string; response_id: string }[] }>('/v1/traces?limit=1')).body.data[0];
  fake.script({ text: 'Over a socket.' });
  const socket = await openSocket(`${place.daemon.url}/v1/responses`, { key: place.daemon.key });
  const asked = { type: 'response.create', model: 'up/any', input: 'Do you read me?' };
  const { response } = (await socket.ask(asked)).at(-1) as never as { response: { id: string } };
  const trace = await newest();
  expect(trace?.response_id).toBe(response.id);
  const overSocket = await contentOf(String(trace?.request_id));
  expect(json(overSocket.request?.body)).toMatchObject({ input: 'Do you read me?' });
  expect(JSON.stringify(json(overSocket.answer?.body).output)).toContain('Over a socket.');

  fake.script({ text: 'In the background.' });
  const request = await call({ input: 'Later, please.', background: true }, { path: '/v1/responses' });
  await expect.poll(async () => (await contentOf(request)).is_complete).toBe(true);
  const later = await contentOf(request);
  expect(json(later.request?.body)).toMatchObject({ input: 'Later, please.', background: true });
  expect(JSON.stringify(json(later.answer?.body).output)).toContain('In the background.');
});

test('has the error of a provider that answers with status 200', async () => {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"error":{"message":"Overloaded, says a 200.","code":503}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const odd = await startWithStranger({
    config: `upstreams: [{ name: odd, base_url: "http://127.0.0.1:${port}", models: ["*"] }]\n`,
  });
  onTestFinished(() => void odd.daemon.stop());
  for (const stream of [false, true]) {
    const reply = await odd.daemon.fetch('/v1/chat/completions', {
      json: { model: 'odd/any', stream, ...hello() },
    });
    await reply.text();
    const path = `/v1/traces/${reply.headers.get('x-request-id')}/content`;
    const headers = { authorization: `Bearer ${odd.daemon.login}` };
    const content = (await (await odd.daemon.fetch(path, { headers })).json()) as TraceContent;
    expect(content.attempts?.[0]).toMatchObject({ provider: 'odd', status: 200 });
    expect(content.attempts?.[0]?.response_body?.text).toContain('Overloaded, says a 200.');
  }
});

test('of a decision has the questions, what providers were asked, and the answers', async () => {
  fake.script({ error: { status: 400, message: 'No such option: logprobs' } });
  const question = { type: 'predicate', name: 'late', instructions: 'Is it late?' };
  const body = { model: 'free/any', input: 'The owls are out.', questions: [question] };
  const failed = await call(body, { path: '/v1/decisions' });
  const { attempts, answer, ...content } = await contentOf(failed);
  expect(content).toMatchObject({ endpoint: '/v1/decisions', is_complete: true });
  expect(json(content.request?.body)).toEqual(body);
  const asked = attempts?.find(({ status }) => status === 400);
  expect(asked?.provider).toBe('free');
  expect(asked?.body?.text).toContain('The owls are out.');
  expect(asked?.response_body?.text).toContain('No such option');
  expect(json(answer?.body)).toMatchObject({ error: { code: 'unavailable' } });

  const decided = await contentOf(await call({ ...body, model: 'sim/assistant' }, { path: '/v1/decisions' }));
  expect(json(decided.answer?.body).answers).toMatchObject([{ type: 'predicate', name: 'late' }]);
  const unkept = await call(body, { path: '/v1/decisions', headers: { 'x-service-capture': 'off' } });
  expect((await get(`/v1/traces/${unkept}/content`)).status).toBe(404);
});

test('its composition tells what fills the context, and what is new since the call before', async () => {
  const tools = (time: string) => [
    { type: 'function', function: { name: 'look', description: `${'Looks. '.repeat(100)} ${time}` } },
  ];
  const opening = { role: 'user', content: `Composition. ${'long '.repeat(200)}` };
  const first = await call({ messages: [opening], tools: tools('12:03') });
  const later = [opening, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'And?' }];
  await call(hello('Another conversation in between.'));
  const second = await call({ messages: later, tools: tools('12:03') });
  const third = await call({ messages: later, tools: tools('12:04') });

  const content = await contentOf(second, '?part=composition');
  expect([content.request, content.attempts, content.answer]).toEqual([null, null, null]);
  const { composition } = content;
  expect(composition?.by_kind.map(({ kind, parts }) => [kind, parts])).toEqual([
    ['message', 3],
    ['tool', 1],
    ['parameter', 1],
  ]);
  expect(composition?.parts.map(({ path, first_seen_in: seen }) => [path, seen])).toMatchObject([
    ['tools[0]', first],
    ['messages[0]', first],
    ['messages[1]', second],
    ['messages[2]', second],
    ['model', expect.any(String)],
  ]);
  expect(composition?.previous).toMatchObject({ request_id: first, unchanged_parts: 2, break: null });
  const [, message] = composition?.parts ?? [];
  const page = await contentOf(second, `?part=request&at=${message?.at}&limit=${message?.characters}`);
  expect(json(page.request?.body)).toEqual(opening);

  const { composition: changed } = await contentOf(third, '?part=composition');
  expect(changed?.previous).toMatchObject({
    request_id: second,
    unchanged_tokens: 0,
    break: { path: 'tools[0].function.description', change: 'changed' },
  });
  expect(changed?.previous?.break?.before).toMatch(/12:03$/);
  expect(changed?.parts[1]?.hash).toBe(message?.hash);
});

test('credentials are not in it, wherever they were', async () => {
  const asked = hello(`Use ${otherKey} and ${place.daemon.key}.`);
  fake.script({ error: { status: 400, message: `Wrong: ${providerKey}` } });
  const refused = await call(asked);
  fake.script({ text: `It is ${providerKey} or ${otherKey}.` });
  const streamed = await call(
    { ...asked, stream: true },
    { headers: { 'x-api-key': otherKey, cookie: `a=${otherKey}` } },
  );
  for (const request of [refused, streamed]) {
    const all = JSON.stringify(await contentOf(request));
    for (const secret of [providerKey, otherKey, place.daemon.key]) expect(all).not.toContain(secret);
    expect(all).toContain('[removed]');
  }
});

test('prompts are where they may be and nowhere else, whoever calls and whatever the header says', async () => {
  const agent = await signUpAgent(place.daemon);
  const { id, secret: silenced } = await place.issue(['responses']);
  await place.daemon.fetch(`/v1/workspaces/me/keys/${id}/defaults`, {
    method: 'PUT',
    json: { capture: 'off' },
    headers: { authorization: `Bearer ${place.daemon.login}` },
  });
  const callers = {
    host: { key: place.daemon.key, kept: [undefined, 'memory', 'disk'] },
    login: { key: place.daemon.login, kept: [undefined, 'memory', 'disk'] },
    silenced: { key: silenced, kept: [] },
    stranger: { key: place.stranger.key, kept: ['memory', 'disk'] },
    agent: { key: agent.secret, kept: ['memory', 'disk'] },
  } as const;
  const readers = [place.daemon.login, place.stranger.login];
  for (const [name, { key, kept }] of Object.entries(callers)) {
    for (const header of [undefined, 'off', 'memory', 'disk', 'ON']) {
      const canary = `canary-${name}-${header}`;
      const request = await call(hello(canary), {
        key,
        ...(header !== undefined && { headers: { 'x-service-capture': header } }),
      });
      const seen = await Promise.all(
        readers.map(async (reader) => (await get(`/v1/traces/${request}/content`, reader)).status === 200),
      );
      const isKept = (kept as readonly (string | undefined)[]).includes(header);
      // No login reads what agents ask.
      const expected = { host: 0, login: 0, silenced: 0, stranger: 1, agent: undefined }[name];
      expect([name, header, seen]).toEqual([name, header, readers.map((_, at) => isKept && at === expected)]);
      for (const [at, reader] of readers.entries()) {
        const found = await get<{ matches: object[] }>(`/v1/traces/search?text=${canary}`, reader);
        expect(found.body.matches).toHaveLength(seen[at] ? 1 : 0);
      }
    }
  }
  const { stdout, stderr } = place.daemon.printed();
  const traces = await get('/v1/traces?limit=100');
  for (const text of [stdout, stderr, JSON.stringify(traces.body)]) expect(text).not.toContain('canary-');
  for (const name of readdirSync(place.daemon.home)) {
    const path = join(place.daemon.home, name);
    if (statSync(path).isFile())
      expect([name, readFileSync(path).includes('canary-')]).toEqual([name, false]);
  }
});

describe('who may read it', () => {
  test('callers of the workspace with the scope, or a login', async () => {
    const request = await call(hello());
    const path = `/v1/traces/${request}/content`;
    const reader = await place.issue(['content:read']);
    const tracer = await place.issue(['traces:read', 'traces', 'responses']);
    expect((await get(path, reader.secret)).status).toBe(200);
    expect((await get(path, tracer.secret)).body).toMatchObject({ error: { code: 'out_of_scope' } });
    for (const secret of [place.stranger.key, place.stranger.login])
      expect((await get(path, secret)).body).toMatchObject({ error: { code: 'not_found' } });
  });

  test('the content of another workspace is kept only if it asks for it, and only it can read it', async () => {
    const { key, login } = place.stranger;
    const silent = await call(hello('Strangers say so.'), { key });
    const willing = await call(hello('Strangers say so.'), {
      key,
      headers: { 'x-service-capture': 'memory' },
    });
    const statusOf = async (request: string, secret: string) =>
      (await get(`/v1/traces/${request}/content`, secret)).status;
    expect(await statusOf(silent, login)).toBe(404);
    expect(await statusOf(willing, login)).toBe(200);
    expect(await statusOf(willing, place.daemon.login)).toBe(404);
    const found = await get<{ matches: object[] }>('/v1/traces/search?text=Strangers%20say');
    expect(found.body.matches).toEqual([]);
    await get('/v1/traces/content', place.daemon.login, 'DELETE');
    expect(await statusOf(willing, login)).toBe(200);
  });

  test('nothing is kept of a call that says so', async () => {
    const request = await call(hello('Not for the record.'), { headers: { 'x-service-capture': 'off' } });
    expect((await get(`/v1/traces/${request}/content`)).status).toBe(404);
    const found = await get<{ matches: object[] }>('/v1/traces/search?text=for%20the%20record');
    expect(found.body.matches).toEqual([]);
  });
});

test('a workspace and a key decide what is kept of their calls, within what the host keeps', async () => {
  const levelOf = async (secret: string) => {
    const { level, source } = (await get<{ level: string; source: string }>('/v1/capture', secret)).body;
    return [level, source];
  };
  const put = async (path: string, capture: string | null, method: string, login = place.daemon.login) => {
    const reply = await place.daemon.fetch(path, {
      method,
      json: { capture },
      headers: { authorization: `Bearer ${login}` },
    });
    expect(reply.status).toBe(200);
  };
  const isKept = async (key: string, login = place.daemon.login) =>
    (await get(`/v1/traces/${await call(hello(), { key })}/content`, login)).status === 200;
  const { id, secret } = await place.issue(['responses', 'content:read']);
  expect(await levelOf(secret)).toEqual(['memory', 'host']);
  await put(`/v1/workspaces/me/keys/${id}/defaults`, 'off', 'PUT');
  expect(await levelOf(secret)).toEqual(['off', 'key']);
  expect([await isKept(secret), await isKept(place.daemon.key)]).toEqual([false, true]);
  await put(`/v1/workspaces/me/keys/${id}/defaults`, 'disk', 'PUT');
  expect(await levelOf(secret)).toEqual(['memory', 'host']);

  await put('/v1/workspaces/me', 'off', 'PATCH');
  expect(await levelOf(secret)).toEqual(['off', 'workspace']);
  expect(await isKept(place.daemon.key)).toBe(false);
  await put('/v1/workspaces/me', null, 'PATCH');
  expect(await isKept(place.daemon.key)).toBe(true);

  const { key, login } = place.stranger;
  expect(await levelOf(login)).toEqual(['off', 'unasked']);
  await put('/v1/workspaces/me', 'memory', 'PATCH', login);
  expect(await levelOf(login)).toEqual(['memory', 'workspace']);
  expect(await isKept(key, login)).toBe(true);
  await put('/v1/workspaces/me', null, 'PATCH', login);
});

describe('previews', () => {
  const previews = async (requests: readonly string[], secret?: string) =>
    await get<{ data: { question: string | null; answer: string | null }[] }>(
      `/v1/traces/previews?requests=${requests.join(',')}`,
      secret,
    );
  const tool = { type: 'function', function: { name: 'read', parameters: {} } };

  test('have the last question and the beginning of the answer, of any format and length', async () => {
    const long = 'x'.repeat(100_000);
    const cases: {
      body: object;
      path?: string;
      reply: Parameters<FakeOpenAi['script']>[0];
      shown: object;
    }[] = [
      {
        body: { messages: [{ role: 'system', content: 'Be brief.' }, ...hello('How\n are   you?').messages] },
        reply: { text: `Well.\n${long}` },
        shown: { question: 'How are you?', answer: `Well. ${'x'.repeat(193)}…` },
      },
      {
        // The question is before what a tool returned, and after a long one.
        body: {
          messages: [
            ...hello(long).messages,
            { role: 'assistant', content: 'Go on.' },
            ...hello('And „this“?').messages,
            {
              role: 'assistant',
              tool_calls: [{ id: 'c', type: 'function', function: { name: 'read', arguments: '{}' } }],
            },
            { role: 'tool', tool_call_id: 'c', content: long },
          ],
          tools: [{ ...tool, function: { ...tool.function, description: long } }],
        },
        reply: { calls: [{ name: 'read', arguments: '{}' }] },
        shown: { question: 'And „this“?', answer: '→ read' },
      },
      {
        body: { max_tokens: 99, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
        path: '/v1/messages',
        reply: { text: 'Hello.' },
        shown: { question: 'Hi', answer: 'Hello.' },
      },
      {
        body: { input: `Why? ${long}` },
        path: '/v1/responses',
        reply: { error: { status: 500, message: 'Out of order.' } },
        shown: { question: `Why? ${'x'.repeat(194)}…`, answer: expect.stringMatching(/provider/i) },
      },
    ];
    const requests: string[] = [];
    for (const { body, path = '/v1/chat/completions', reply } of cases) {
      fake.script(reply);
      requests.push(await call(body, { path }));
    }
    const unkept = await call(hello(), { headers: { 'x-service-capture': 'off' } });
    const { body } = await previews([...requests, unkept, 'req_none']);
    expect(body.data).toEqual(cases.map(({ shown }, at) => ({ request_id: requests[at], ...shown })));
    await get(`/v1/traces/${requests[0]}/content`, place.daemon.login, 'DELETE');
    expect((await previews([requests[0] as string])).body.data).toEqual([]);
  });

  test('are of the workspace, and for those who may read content', async () => {
    const request = await call(hello('Mine.'));
    expect((await previews([request], place.daemon.key)).status).toBe(403);
    expect((await previews([request], place.stranger.login)).body.data).toEqual([]);
    expect((await previews(Array.from({ length: 101 }, () => request))).status).toBe(400);
  });
});

describe('search', () => {
  interface Found {
    matches: { request_id: string; part: string; snippet: string; start: number; end: number }[];
    of?: number;
    next: string | null;
  }
  /** All matches: each request searches for some time only. */
  const search = async (query: Record<string, string>) => {
    const matches: Found['matches'] = [];
    for (let after: string | null = ''; after !== null; ) {
      const from: Record<string, string> = after === '' ? query : { ...query, after };
      const { body } = await get<Found>(`/v1/traces/search?${new URLSearchParams(from)}`);
      matches.push(...body.matches);
      // Counted once.
      expect(body.of === undefined).toBe(after !== '');
      after = body.next;
    }
    return matches;
  };

  test('finds text of any language and case, in the call that introduced it', async () => {
    const text = `Wörter "in" 中文内容\nund (Klammern)… ${'x'.repeat(600)}`;
    const first = await call(hello(text));
    const more = [
      { role: 'assistant', content: 'Hm.' },
      { role: 'user', content: 'y'.repeat(600) },
    ];
    const repeated = { messages: [...hello(text).messages, ...more] };
    await call(repeated);
    for (const part of ['wÖRTER', '文内', '"IN"', '文内容\nund (klammern)']) {
      const [match, ...others] = await search({ text: part });
      expect([match?.request_id, others]).toEqual([first, []]);
      expect(match?.snippet.slice(match.start, match.end).toLowerCase()).toBe(part.toLowerCase());
    }
    expect(await search({ text: '.*' })).toEqual([]);
  });

  test('finds answers, and of one key only', async () => {
    const { id, secret } = await place.issue(['responses']);
    fake.script({ text: 'The answer is forty-two.' });
    const request = await call({ ...hello(), stream: true }, { key: secret });
    expect(await search({ text: 'forty-TWO' })).toMatchObject([{ request_id: request, part: 'answer' }]);
    expect(await search({ text: 'forty-two', key: id })).toHaveLength(1);
    expect(await search({ text: 'forty-two', key: 'key_other' })).toEqual([]);
    expect(await search({ text: 'forty-two', until: '2020-01-01' })).toEqual([]);
  });

  test('finds only in calls that match a query, and so are they deleted', async () => {
    const tagged = (team: string) => ({ headers: { 'x-service-tags': `team=${team}` } });
    const [red, blue] = [
      await call(hello('A walrus.'), tagged('red')),
      await call(hello('A walrus.'), tagged('blue')),
    ];
    const rejected = await call({ ...hello('A walrus sings.'), model: 'nobody/none' });
    const found = async (q: string) => (await search({ text: 'walrus', q })).map(({ request_id: id }) => id);
    expect(await found('tag:team=red')).toEqual([red]);
    expect(await found('status:rejected')).toEqual([rejected]);
    expect(await found('-status:completed tag:team=red')).toEqual([]);
    const remove = async (q: string) =>
      (
        await get<{ deleted?: number }>(
          `/v1/traces/content?${new URLSearchParams({ q })}`,
          undefined,
          'DELETE',
        )
      ).body;
    expect(await remove('tag:team=blue')).toMatchObject({ deleted: 1 });
    expect((await get(`/v1/traces/${blue}/content`)).status).toBe(404);
    expect((await get(`/v1/traces/${red}/content`)).status).toBe(200);
    for (const q of ['"text"', 'colour:red'])
      expect(await remove(q)).toMatchObject({ error: { code: 'invalid_request', param: 'q' } });
  });
});

test('what a deleted call asked and was answered is gone from later calls, however short; what others had stays', async () => {
  fake.script(
    { text: 'Rain.' },
    { text: 'Your code is 4711.' },
    { text: 'You are welcome.' },
    { text: 'Your code is 4711.' },
  );
  const earlier = await call(hello('The weather in Oslo?'));
  const weather = [...hello('The weather in Oslo?').messages, { role: 'assistant', content: 'Rain.' }];
  const code = hello('My code, in „quotes“?').messages;
  const first = await call({ messages: [...weather, ...code] });
  const history = [
    ...weather,
    ...code,
    { role: 'assistant', content: 'Your code is 4711. ' },
    ...hello('Thank you.').messages,
  ];
  const chat = await call({ messages: history });
  const messages = await call(
    {
      max_tokens: 100,
      messages: history.map(({ role, content }) => ({ role, content: [{ type: 'text', text: content }] })),
    },
    { path: '/v1/messages' },
  );
  await get(`/v1/traces/${first}/content`, place.daemon.login, 'DELETE');
  for (const later of [chat, messages]) {
    const { request, attempts } = await contentOf(later);
    for (const body of [request?.body, attempts?.[0]?.body]) {
      expect(body?.is_partial).toBe(true);
      expect(body?.text).not.toMatch(/4711|quotes/);
      const texts = json(body).messages.map(({ content }: { content: string | { text: string }[] }) =>
        typeof content === 'string' ? content : content[0]?.text,
      );
      expect(texts).toEqual(['The weather in Oslo?', 'Rain.', '[deleted]', '[deleted]', 'Thank you.']);
    }
  }
  // It was answered anew.
  expect((await contentOf(messages)).answer?.body).toMatchObject({
    is_partial: false,
    text: expect.stringContaining('Your code is 4711.'),
  });
  expect((await contentOf(earlier)).request?.body).toMatchObject({ is_partial: false });
  const found = await get<{ matches: unknown[] }>(
    `/v1/traces/search?text=${encodeURIComponent('in „quotes“')}`,
  );
  expect(found.body.matches).toEqual([]);
});

test('what is deleted is gone, also from calls that repeat it; clearing deletes the rest', async () => {
  const long = `Delete me. ${'z'.repeat(700)}`;
  const first = await call(hello(long));
  const second = await call({ messages: [...hello(long).messages, { role: 'user', content: 'And this.' }] });
  expect((await get(`/v1/traces/${first}/content`, place.daemon.login, 'DELETE')).body).toMatchObject({
    deleted: 1,
  });
  expect((await get(`/v1/traces/${first}/content`)).status).toBe(404);
  const { request } = await contentOf(second);
  expect(request?.body).toMatchObject({ is_partial: true, text: expect.not.stringContaining('Delete me') });
  expect((await get<{ requests: number }>('/v1/capture')).body.requests).toBeGreaterThan(0);
  await get('/v1/traces/content', place.daemon.login, 'DELETE');
  expect((await get('/v1/capture')).body).toMatchObject({ content: 'memory', requests: 0, oldest_at: null });
  // The traces stay.
  for (const request of [first, second])
    expect((await get(`/v1/traces/${request}`)).body).toMatchObject({
      captured: { state: 'deleted', parts: [] },
    });
});
