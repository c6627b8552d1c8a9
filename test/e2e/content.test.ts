import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TraceContent } from '../../src/shared/contract/content.ts';
import { type DaemonWithStranger, startWithStranger } from '../support/daemon-with-stranger.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';

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

  test('of a rejected call has its body, whether it was read or not', async () => {
    const unknown = await call({ ...hello('Who?'), model: 'nobody/none' });
    const invalid = await call({ model: 'up/any', messages: 'none' });
    expect(json((await contentOf(unknown)).request?.body)).toEqual({
      ...hello('Who?'),
      model: 'nobody/none',
    });
    expect(json((await contentOf(invalid)).request?.body)).toEqual({ model: 'up/any', messages: 'none' });
  });

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

describe('search', () => {
  const search = async (query: Record<string, string>) =>
    (
      await get<{
        matches: { request_id: string; part: string; snippet: string; start: number; end: number }[];
      }>(`/v1/traces/search?${new URLSearchParams(query)}`)
    ).body.matches;

  test('finds text of any language and case, in the call that introduced it', async () => {
    const text = `Wörter "in" 中文内容\nund (Klammern)… ${'x'.repeat(600)}`;
    const first = await call(hello(text));
    const repeated = { messages: [...hello(text).messages, { role: 'user', content: 'y'.repeat(600) }] };
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
  // The trace stays.
  expect((await get(`/v1/traces/${second}`)).status).toBe(200);
});
