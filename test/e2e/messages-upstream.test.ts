import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type FakeAnthropic, startFakeAnthropic } from '../support/fake-anthropic.ts';
import { checkMessage, checkMessageStream } from '../support/messages-check.ts';
import { postForChunks } from '../support/raw-chunks.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** A server with Anthropic's format, which the configuration adds with `wire: messages`. */

type Json = Record<string, unknown>;

let fake: FakeAnthropic;
let daemon: RunningDaemon;

beforeAll(async () => {
  fake = await startFakeAnthropic();
  daemon = await startDaemon({
    config: `
cache: {default: off}
upstreams:
  - name: relay
    base_url: ${fake.baseUrl}
    key_env: RELAY_KEY
    models: [claude-sonnet-4-5]
    wire: messages
    prices: {input: "1", output: "2", cached_input: "0.1", cache_write: "1.25"}
`,
    env: { RELAY_KEY: 'sk-relay' },
  });
});

afterEach(() => fake.forget());

afterAll(async () => {
  await daemon.stop();
  await fake.close();
});

const model = 'relay/claude-sonnet-4-5';
const hello = { model, max_tokens: 64, messages: [{ role: 'user', content: 'Hello.' }] };

async function create(json: Json, credential = daemon.key) {
  const answer = await fetch(`${daemon.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': credential },
    body: JSON.stringify(json),
  });
  const requestId = answer.headers.get('request-id') ?? '';
  return { status: answer.status, requestId, body: (await answer.json()) as Json };
}

/** The JSON at a path, as the owner. */
async function get(path: string): Promise<Json> {
  return (await (
    await daemon.fetch(path, { headers: { authorization: `Bearer ${daemon.login}` } })
  ).json()) as Json;
}

test('is asked in its format, with its key', async () => {
  const { body } = await create(hello);
  expect(checkMessage(body)).toMatchObject({ text: 'Hello from Claude.', stop: 'end_turn' });
  expect(fake.requests[0]).toMatchObject({
    path: '/v1/messages',
    headers: { 'x-api-key': 'sk-relay', 'anthropic-version': '2023-06-01' },
    body: { ...hello, model: 'claude-sonnet-4-5' },
  });
});

test('is streamed, from a first event to the last, with its pings', async () => {
  const { chunks } = await postForChunks(`${daemon.url}/v1/messages`, {
    headers: { 'x-api-key': daemon.key },
    json: { ...hello, stream: true },
  });
  expect(checkMessageStream(chunks)).toMatchObject({ text: 'Hello from Claude.' });
  expect(chunks.join('')).toContain('event: ping\ndata: {"type":"ping"}\n\n');
});

test('answers calls of the other formats', async () => {
  const answer = await daemon.fetch('/v1/responses', { method: 'POST', json: { model, input: 'Hello.' } });
  expect(answer.headers.get('x-service-upstream')).toBe('relay');
  expect(JSON.stringify(await answer.json())).toContain('Hello from Claude.');
});

test('is in the usage, the traces and the events of a call', async () => {
  const { requestId } = await create(hello);
  expect(await get(`/v1/usage/${requestId}`)).toMatchObject({ endpoint: '/v1/messages', provider: 'relay' });
  expect(await get(`/v1/traces/${requestId}`)).toMatchObject({
    endpoint: '/v1/messages',
    attempts: [{ provider: 'relay', status: 200 }],
  });
  const followed = await daemon.fetch('/v1/events?after=0', {
    headers: { authorization: `Bearer ${daemon.login}` },
  });
  let events = '';
  for await (const bytes of followed.body ?? []) {
    events += Buffer.from(bytes).toString();
    if (events.includes(requestId)) break;
  }
  expect(events).toContain(requestId);
});

test('charges tokens written to the cache for an hour at twice the input price', async () => {
  // Long enough for the counts below: no call costs more than the most that its request can.
  const content = [
    { type: 'text', text: 'Remember this. '.repeat(2000), cache_control: { type: 'ephemeral', ttl: '1h' } },
  ];
  const costOf = async (cacheCreation: Json) => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 2000,
      cache_read_input_tokens: 500,
      cache_creation: cacheCreation,
      output_tokens: 5,
    };
    fake.answer({ blocks: [{ text: 'Hi.' }], usage });
    const { requestId } = await create({ ...hello, messages: [{ role: 'user', content }] });
    return (await get(`/v1/usage/${requestId}`)).charged_usd;
  };
  // 10 × $1, 500 × $0.10, 5 × $2 and the written tokens, per million.
  const shortLived = { ephemeral_5m_input_tokens: 2000, ephemeral_1h_input_tokens: 0 };
  expect(Number(await costOf(shortLived))).toBeCloseTo(0.00257, 9);
  const hourLong = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 2000 };
  expect(Number(await costOf(hourLong))).toBeCloseTo(0.00407, 9);
});

describe('options whose price the answer does not report', () => {
  let limited: string;

  beforeAll(async () => {
    const issued = await daemon.fetch('/v1/workspaces/me/keys', {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.login}` },
      json: { limits: { spend_cap: { usd: '5', period: 'day' } } },
    });
    limited = ((await issued.json()) as { secret: string }).secret;
  });

  test.each([
    ['speed', { speed: 'fast' }],
    ['inference_geo', { inference_geo: 'us' }],
    ['service_tier', { service_tier: 'priority' }],
  ])('%s is refused for keys with a spending limit', async (param, option) => {
    const { status, body } = await create({ ...hello, ...option }, limited);
    expect([status, body]).toMatchObject([
      400,
      { error: { type: 'invalid_request_error', details: { param } } },
    ]);
    expect(fake.requests).toEqual([]);
  });

  test('the same key may call without them', async () => {
    expect((await create({ ...hello, service_tier: 'standard_only' }, limited)).status).toBe(200);
  });
});

describe('tokens are counted', () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } };
  const document = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'A page of text.' },
  };
  const found = {
    type: 'search_result',
    title: 'T',
    source: 'https://example.com',
    content: [{ type: 'text', text: 'Found.' }],
  };
  const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } };
  const result = {
    type: 'tool_result',
    tool_use_id: 'toolu_1',
    content: [{ type: 'text', text: 'Rain.' }, image],
  };
  const asked = { role: 'user', content: 'Hello.' };
  const answered = (...content: Json[]) => ({ role: 'assistant', content });
  const cases: [string, Json[]][] = [
    ['text', [{ role: 'user', content: [{ type: 'text', text: 'Hello to you.' }] }]],
    ['image', [{ role: 'user', content: [image] }]],
    ['document', [{ role: 'user', content: [document] }]],
    ['search result', [{ role: 'user', content: [found] }]],
    ['call and result', [asked, answered(call), { role: 'user', content: [result] }]],
    [
      'thoughts',
      [
        asked,
        answered({ type: 'thinking', thinking: 'Hm.', signature: 'unsigned' }, { type: 'text', text: 'Hi.' }),
        asked,
      ],
    ],
    ['system message', [asked, { role: 'system', content: 'Be brief.' }]],
  ];

  test.each(cases)('of a block: %s', async (_name, messages) => {
    const count = async (named: string) => {
      const answer = await daemon.fetch('/v1/messages/count_tokens', {
        method: 'POST',
        json: { model: named, messages },
      });
      expect(answer.status).toBe(200);
      return ((await answer.json()) as { input_tokens: number }).input_tokens;
    };
    const { body } = await create({ model: 'sim/echo', max_tokens: 64, messages });
    expect(await count('sim/echo')).toBe((body.usage as Json).input_tokens);
    expect(await count(model)).toBe(4242);
    expect(fake.requests[0]?.path).toBe('/v1/messages/count_tokens');
  });
});
