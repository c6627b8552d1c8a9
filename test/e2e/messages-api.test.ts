import { beforeAll, describe, expect, test } from 'vitest';
import { checkMessage, checkMessageStream, messageEvents } from '../support/messages-check.ts';
import {
  backend as backendOf,
  backendsForThisFile,
  type ProviderName,
  providerNames,
} from '../support/model-backends.ts';
import { postForChunks } from '../support/raw-chunks.ts';

type Json = Record<string, unknown>;

const backends = await backendsForThisFile(`
cache: {default: off}
`);
const { daemon } = backends;
const version = { 'anthropic-version': '2023-06-01' };
const hello = { max_tokens: 64, messages: [{ role: 'user', content: 'Hello.' }] };

function post(path: string, json: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(daemon.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': daemon.key, ...version, ...headers },
    body: typeof json === 'string' ? json : JSON.stringify(json),
  });
}

const create = (json: Json, headers?: Record<string, string>) => post('/v1/messages', json, headers);

async function messageOf(json: Json, headers?: Record<string, string>) {
  const answer = await create(json, headers);
  const body = await answer.json();
  expect(answer.status, JSON.stringify(body)).toBe(200);
  return checkMessage(body);
}

describe('credentials', () => {
  test.each([
    ['x-api-key', { 'x-api-key': daemon.key }],
    ['a bearer key', { authorization: `Bearer ${daemon.key}` }],
  ])('%s', async (_name, credential) => {
    const answer = await fetch(`${daemon.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credential },
      body: JSON.stringify({ model: 'sim/echo', ...hello }),
    });
    expect(answer.status).toBe(200);
    expect(checkMessage(await answer.json()).text).toContain('Hello.');
    expect(answer.headers.get('request-id')).toBe(answer.headers.get('x-request-id'));
    expect(answer.headers.get('x-service-upstream')).toBe('simulator');
  });

  test('a wrong key is an authentication_error', async () => {
    const answer = await create({ model: 'sim/echo', ...hello }, { 'x-api-key': 'sk-ant-wrong' });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
  });
});

describe('errors', () => {
  const model = 'sim/echo';
  test.each<[string, unknown, number, string, RegExp]>([
    [
      'a missing limit',
      { model, messages: hello.messages },
      400,
      'invalid_request_error',
      /^max_tokens: This is required\.$/,
    ],
    [
      'a wrong role',
      { model, max_tokens: 9, messages: [{ role: 'tool', content: 'x' }] },
      400,
      'invalid_request_error',
      /^messages\.0\.role: /,
    ],
    [
      'a result without a call',
      {
        model,
        max_tokens: 9,
        messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] }],
      },
      400,
      'invalid_request_error',
      /^messages\.0\.content\.0\.tool_use_id: .*toolu_1/,
    ],
    [
      'a tool that is not there',
      {
        model,
        ...hello,
        tools: [{ name: 'y', input_schema: { type: 'object' } }],
        tool_choice: { type: 'tool', name: 'x' },
      },
      400,
      'invalid_request_error',
      /^tool_choice\.name: /,
    ],
    [
      'an unknown option of the gateway',
      { model, ...hello, service: { max_prices: {} } },
      400,
      'invalid_request_error',
      /^service\.max_prices: This /,
    ],
    ['JSON that is cut', '{"model":', 400, 'invalid_request_error', /JSON/],
    ['an unknown model', { model: 'none/such', ...hello }, 404, 'not_found_error', /none\/such/],
    [
      'a body that is too large',
      `{"model":"${'x'.repeat(33 * 1024 * 1024)}"}`,
      413,
      'request_too_large',
      /must not exceed/,
    ],
    [
      'thoughts sealed elsewhere',
      {
        model,
        max_tokens: 9,
        messages: [
          ...hello.messages,
          { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 'gws1.AAAA' }] },
          ...hello.messages,
        ],
      },
      400,
      'invalid_request_error',
      /^messages\.1\.content\.0\.signature: /,
    ],
  ])('%s', async (_name, body, status, type, message) => {
    const answer = await post('/v1/messages', body);
    const error = (await answer.json()) as Json;
    expect([answer.status, error]).toEqual([
      status,
      {
        type: 'error',
        error: { type, message: expect.stringMatching(message), details: expect.anything() },
        request_id: answer.headers.get('request-id'),
      },
    ]);
  });

  test.each([
    ['/v1/messages/batches', 'POST'],
    ['/v1/files', 'GET'],
    ['/v1/models/none', 'GET'],
  ])('%s is not there', async (path, method) => {
    const answer = await fetch(daemon.url + path, { method, headers: version });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
  });

  describe.each(['anthropic', 'openai', 'google'] as const)('from %s', (provider) => {
    test.each([
      [429, 429, 'rate_limit_error'],
      [503, 529, 'overloaded_error'],
      [529, 529, 'overloaded_error'],
    ])('%i when all providers answer it becomes %i', async (sent, status, type) => {
      const model = backends.refuse(provider, { status: sent, headers: { 'retry-after': '7' } });
      for (const stream of [false, true]) {
        backends.refuse(provider, { status: sent, headers: { 'retry-after': '7' } });
        const answer = await create({ model, ...hello, stream });
        expect(answer.status).toBe(status);
        expect(answer.headers.get('retry-after')).toBe('7');
        expect(await answer.json()).toMatchObject({ type: 'error', error: { type } });
      }
      backends.refuse(provider, { status: sent, headers: { 'retry-after': '7' } });
      const other = await daemon.fetch('/v1/responses', {
        method: 'POST',
        json: { model, input: 'Hello.' },
      });
      expect(other.status).toBe(status === 529 ? 502 : status);
    });

    test('413 stays a 413', async () => {
      const model = backends.refuse(provider, { status: 413 });
      const answer = await create({ model, ...hello });
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ error: { type: 'request_too_large' } });
    });
  });

  test('an overload that Anthropic reports in a stream, before its answer, has its status', async () => {
    const model = backends.script('anthropic');
    const interrupt = { afterEvents: 2, by: 'overloaded_error' } as const;
    backends.anthropic.answer({ blocks: [{ text: 'Never.' }], interrupt });
    const answer = await create({ model, ...hello, stream: true });
    expect(answer.status).toBe(529);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ error: { type: 'overloaded_error' } });
  });

  test('a failure of another kind is an api_error', async () => {
    const model = backends.refuse('anthropic', { status: 500 });
    const answer = await create({ model, ...hello });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ error: { type: 'api_error' } });
  });

  test('a refusal by Anthropic has its words, and names a field as the caller does', async () => {
    const model = backends.script('anthropic');
    const answer = await create({
      model,
      max_tokens: 2048,
      messages: [{ role: 'user', content: 'Hello.' }],
      thinking: { type: 'enabled', budget_tokens: 1024 },
      temperature: 0.5,
    });
    const { error } = (await answer.json()) as { error: Json };
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      message: '`temperature` may only be set to 1 when thinking is enabled.',
      details: { param: 'temperature' },
    });
  });

  test('a rate limit of the key is to be retried, other limits are not', async () => {
    const issued = await fetch(`${daemon.url}/v1/workspaces/me/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${daemon.login}` },
      body: JSON.stringify({ limits: { requests_per_minute: 1, models: ['sim/echo'] } }),
    });
    const { secret } = (await issued.json()) as { secret: string };
    const as = { 'x-api-key': secret };
    const other = await create({ model: 'sim/assistant', ...hello }, as);
    expect([other.status, other.headers.get('x-should-retry')]).toEqual([403, 'false']);
    expect((await create({ model: 'sim/echo', ...hello }, as)).status).toBe(200);
    const limited = await create({ model: 'sim/echo', ...hello }, as);
    expect([limited.status, limited.headers.get('x-should-retry')]).toEqual([403, 'true']);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    const inOpenAiFormat = await fetch(`${daemon.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify({ model: 'sim/echo', input: 'Hello.' }),
    });
    expect([inOpenAiFormat.status, inOpenAiFormat.headers.get('x-should-retry')]).toEqual([403, 'true']);
    expect(Number(inOpenAiFormat.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('models', () => {
  const get = async (path: string) =>
    (await (await fetch(daemon.url + path, { headers: version })).json()) as Json & { data: Json[] };

  test('are listed in pages', async () => {
    const all = await get('/v1/models?limit=1000');
    expect(all).toMatchObject({ has_more: false, first_id: all.data[0]?.id, last_id: all.data.at(-1)?.id });
    const ids = all.data.map(({ id }) => id);
    const seen: unknown[] = [];
    for (let after = ''; ; ) {
      const page = await get(`/v1/models?limit=7${after}`);
      seen.push(...page.data.map(({ id }) => id));
      if (!page.has_more) break;
      after = `&after_id=${encodeURIComponent(String(page.last_id))}`;
    }
    expect(seen).toEqual(ids);
    const before = await get(`/v1/models?limit=2&before_id=${encodeURIComponent(String(ids[5]))}`);
    expect(before).toMatchObject({ data: [{ id: ids[3] }, { id: ids[4] }], has_more: true });
  });

  test('are only those that this API can call now', async () => {
    const all = await get('/v1/models?limit=1000');
    const ids = all.data.map(({ id }) => id);
    expect(ids).toContain('sim/assistant');
    expect(ids).not.toContain('sim/embedding');
    const listed = (await (await fetch(`${daemon.url}/v1/models?all=true`)).json()) as {
      data: { id: string; service: { providers: { available: boolean }[] } }[];
    };
    const unavailable = listed.data.find(({ service }) => !service.providers.some((p) => p.available));
    expect(unavailable).toBeDefined();
    expect(ids).not.toContain(unavailable?.id);
  });

  test.each(['after_id', 'before_id'])('are not listed from an unknown cursor in %s', async (param) => {
    const answer = await fetch(`${daemon.url}/v1/models?${param}=none%2Fsuch`, { headers: version });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: expect.stringContaining(`${param}: `) },
    });
  });

  test('are shown one by one', async () => {
    expect(await get('/v1/models/sim%2Fassistant')).toMatchObject({
      type: 'model',
      id: 'sim/assistant',
      display_name: expect.any(String),
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test('keep their other format for other clients', async () => {
    const answer = await fetch(`${daemon.url}/v1/models`);
    expect(await answer.json()).toMatchObject({ object: 'list' });
  });
});

describe('tokens are counted', () => {
  const prompt = { messages: [{ role: 'user', content: 'How many tokens is this?' }] };
  const count = async (model: string) => {
    const answer = await post('/v1/messages/count_tokens', { model, ...prompt });
    return { ...((await answer.json()) as Json), estimated: answer.headers.get('x-service-estimated') };
  };

  test('by Anthropic', async () => {
    const model = backends.script('anthropic');
    expect(await count(model)).toEqual({ input_tokens: 4242, estimated: null });
    const [request] = backends.anthropic.requests;
    expect(request?.path).toBe('/v1/messages/count_tokens');
    expect(request?.body).toEqual({ model: model.replace('anthropic/', ''), ...prompt });
  });

  test('by the simulator, as in its answer', async () => {
    const { usage } = await messageOf({ model: 'sim/echo', max_tokens: 64, ...prompt });
    expect(await count('sim/echo')).toEqual({ input_tokens: usage.input_tokens, estimated: null });
  });

  test('by an estimate', async () => {
    const counted = await count(backends.script('openai'));
    expect(counted).toEqual({ input_tokens: expect.any(Number), estimated: 'true' });
    expect(backends.openai.requests).toEqual([]);
  });
});

describe('Anthropic', () => {
  const cached = { type: 'ephemeral', ttl: '1h' };
  const rich = {
    max_tokens: 2048,
    system: [{ type: 'text', text: 'Be brief.', cache_control: cached }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hello.', cache_control: cached },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'x' },
            citations: { enabled: true },
          },
        ],
      },
    ],
    tools: [
      { name: 'weather', input_schema: { type: 'object' }, cache_control: cached, strict: false },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 2, input_schema: { type: 'object' } },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    metadata: { user_id: 'u-1' },
    service_tier: 'standard_only',
    stop_sequences: ['END'],
  };

  test('gets the call as it is, with version and betas', async () => {
    const model = backends.script('anthropic', { text: 'Hello!' });
    await messageOf({ model, ...rich }, { 'anthropic-beta': 'one-2026-01-01,two-2026-02-02' });
    const [request] = backends.anthropic.requests;
    expect(request?.body).toEqual({ model: model.replace('anthropic/', ''), ...rich, stream: false });
    expect(request?.headers).toMatchObject({
      'x-api-key': 'sk-ant',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'one-2026-01-01,two-2026-02-02',
    });
  });

  test('has its stream passed on byte for byte, but for ids', async () => {
    const model = backends.script('anthropic', { reasoning: 'Hm.', text: 'Hello, and good morning!' });
    const answer = await postForChunks(`${daemon.url}/v1/messages`, {
      headers: { 'x-api-key': daemon.key, ...version },
      json: { model, ...hello, stream: true },
    });
    backends.script('anthropic', { reasoning: 'Hm.', text: 'Hello, and good morning!' });
    const direct = await fetch(`${backends.anthropic.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'sk-ant', ...version },
      body: JSON.stringify({ model: model.replace('anthropic/', ''), ...hello, stream: true }),
    });
    const lines = (text: string) => text.split('\n').filter((line) => !line.includes('message_start"'));
    expect(lines(answer.chunks.join(''))).toEqual(lines(await direct.text()));
    const [start] = messageEvents(answer.chunks);
    expect(start).toMatchObject({ message: { id: expect.stringMatching(/^msg_/), model } });
  });

  test('is charged for cache writes and searches by its own counts', async () => {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 2000,
      cache_read_input_tokens: 500,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 2000 },
      output_tokens: 5,
    };
    const model = backends.script('anthropic');
    backends.anthropic.answer({ blocks: [{ text: 'Hi.' }], usage });
    const answer = await create({ model, ...hello });
    expect(((await answer.json()) as Json).usage).toMatchObject(usage);
    const requestId = answer.headers.get('request-id');
    const recorded = await daemon.fetch(`/v1/usage/${requestId}`);
    expect(await recorded.json()).toMatchObject({
      endpoint: '/v1/messages',
      tokens: { input: 2510, cached_input: 500, cache_write: 2000, output: 5 },
    });
  });

  test.each([true, false])(
    'a budget of thoughts that was reduced is reported, streamed: %s',
    async (stream) => {
      backends.script('anthropic', { text: 'Hi.' });
      const answer = await daemon.fetch('/v1/messages', {
        json: {
          model: 'anthropic/claude-sonnet-4-5',
          max_tokens: 100_000,
          messages: [{ role: 'user', content: 'Hi.' }],
          thinking: { type: 'enabled', budget_tokens: 80_000 },
          stream,
        },
      });
      await answer.text();
      expect(backends.lastBody('anthropic')).toMatchObject({
        max_tokens: 64_000,
        thinking: { type: 'enabled', budget_tokens: 51_200 },
      });
      expect(answer.headers.get('x-service-dropped')).toBe('thinking.budget_tokens');
    },
  );

  test('gets no thoughts of other models, and its own again', async () => {
    const model = backends.script('anthropic', { reasoning: 'Mine.', calls: [{ name: 'weather' }] });
    const tools = [{ name: 'weather', input_schema: { type: 'object' } }];
    const question = { role: 'user', content: 'Weather?' };
    const first = await messageOf({ model, max_tokens: 64, messages: [question], tools });
    const foreign = backends.script('openai', { reasoning: 'Theirs.', calls: [{ name: 'weather' }] });
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const second = await messageOf({
      model: foreign,
      max_tokens: 2048,
      messages: [question],
      tools,
      thinking,
    });
    const resultOf = ({ calls }: typeof first) => ({
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' })),
    });
    const messages = [
      question,
      { role: 'assistant', content: first.content },
      resultOf(first),
      { role: 'assistant', content: second.content },
      resultOf(second),
    ];
    expect(second.sealed).toHaveLength(1);
    backends.script('anthropic', { text: 'Rain.' });
    await messageOf({ model, max_tokens: 64, messages, tools });
    const { messages: sent } = backends.lastBody('anthropic') as { messages: { content: Json[] }[] };
    expect(sent[1]?.content).toEqual(first.content);
    expect(sent[3]?.content.map(({ type }) => type)).toEqual(['tool_use']);
    // With a budget, Anthropic would refuse a turn of calls that does not start with its own thoughts.
    backends.script('anthropic', { text: 'Rain.' });
    const unthinking = await daemon.fetch('/v1/messages', {
      json: { model, max_tokens: 2048, messages, tools, thinking },
    });
    expect(backends.lastBody('anthropic').thinking).toBeUndefined();
    expect(unthinking.headers.get('x-service-dropped')).toBe('thinking');
    backends.script('anthropic', { text: 'Rain.' });
    const question2 = { role: 'user', content: 'And tomorrow?' };
    const answered = [...messages, { role: 'assistant', content: 'Rain.' }, question2];
    await messageOf({ model, max_tokens: 2048, messages: answered, tools, thinking });
    expect(backends.lastBody('anthropic').thinking).toEqual(thinking);
  });
});

describe.each(providerNames)('thoughts of %s go back to it', (backend: ProviderName) => {
  const tools = [
    {
      name: 'weather',
      input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ];
  const question = { role: 'user', content: 'What is the weather in Oslo?' };
  const thought = 'Only the tool knows.';
  const thinking = { thinking: { type: 'enabled', budget_tokens: 1024 } };

  test.each([
    ['shown, in a stream', { ...thinking, stream: true }],
    ['shown, in JSON', thinking],
    ['not asked for', {}],
  ])('%s', async (_name, options) => {
    const model = backends.script(
      backend,
      { reasoning: thought, calls: [{ name: 'weather', input: { city: 'Oslo' } }] },
      { text: 'It rains.' },
    );
    const asked = { model, max_tokens: 4096, tools, ...options };
    const headers = { 'x-api-key': daemon.key, ...version };
    const first =
      'stream' in options
        ? checkMessageStream(
            (
              await postForChunks(`${daemon.url}/v1/messages`, {
                headers,
                json: { ...asked, messages: [question] },
              })
            ).chunks,
          )
        : await messageOf({ ...asked, messages: [question] });
    expect(first.thinking === '').toBe(!('thinking' in options) && backend !== 'anthropic');
    const content = first.calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' }));
    const messages = [question, { role: 'assistant', content: first.content }, { role: 'user', content }];
    await messageOf({ ...asked, stream: false, messages });
    backendOf(backend).expectReasoning(backends.lastBody(backend), thought);
  });
});

test('a call with an Idempotency-Key is answered once', async () => {
  const headers = { 'idempotency-key': 'messages-1' };
  const first = await create({ model: 'sim/assistant', ...hello }, headers);
  const second = await create({ model: 'sim/assistant', ...hello }, headers);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  expect(await second.json()).toEqual(await first.json());
  // Each request has an id of its own, under both names.
  expect(second.headers.get('request-id')).toBe(second.headers.get('x-request-id'));
  expect(second.headers.get('request-id')).not.toBe(first.headers.get('request-id'));
  expect(second.headers.get('x-service-replay-of')).toBe(first.headers.get('request-id'));
});

describe('the cache', () => {
  let model = '';
  beforeAll(() => {
    model = backends.script('anthropic');
  });

  test('serves the same message again, streamed or not', async () => {
    backends.script('anthropic', { reasoning: 'Hm.', text: 'Only once.' });
    const body = { model, ...hello, thinking: { type: 'disabled' }, service: { cache: 'read-write' } };
    const first = await create(body);
    expect(first.headers.get('x-service-cache')).toBe('miss');
    expect(checkMessage(await first.json()).text).toBe('Only once.');
    const { chunks } = await postForChunks(`${daemon.url}/v1/messages`, {
      headers: { 'x-api-key': daemon.key, ...version },
      json: { ...body, stream: true },
    });
    expect(checkMessageStream(chunks)).toMatchObject({ text: 'Only once.', stop: 'end_turn' });
    expect(backends.anthropic.requests).toHaveLength(1);
  });
});

test('stop sequences are reported where they are known', async () => {
  const stop = { model: 'sim/echo', max_tokens: 64, stop_sequences: ['STOP'] };
  const said = await messageOf({ ...stop, messages: [{ role: 'user', content: 'One. STOP Two.' }] });
  expect(said).toMatchObject({ stop: 'stop_sequence', stopSequence: 'STOP' });
  expect(said.text).not.toContain('Two');
});

test('a key issued for other actions may not create messages', async () => {
  const issued = await fetch(`${daemon.url}/v1/workspaces/me/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${daemon.login}` },
    body: JSON.stringify({ actions: ['chat'] }),
  });
  const { secret } = (await issued.json()) as { secret: string };
  for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
    const answer = await post(path, { model: 'sim/echo', ...hello }, { 'x-api-key': secret });
    const details = { error_code: 'limit_reached', param: 'scopes.actions' };
    expect(await answer.json()).toMatchObject({ error: { type: 'permission_error', details } });
  }
});
