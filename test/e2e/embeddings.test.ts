import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { fakeVector } from '../support/fake-vector.ts';
import { backend, backendNames, backendsForThisFile, openAiAs } from '../support/model-backends.ts';

const on = await backendsForThisFile();
const client = openAiAs(on.daemon);

interface Embeddings {
  data: { index: number; embedding: number[] | string }[];
  model: string;
  usage: { prompt_tokens: number; total_tokens: number; cost_usd: string | null };
  service: { provider: string; charged_usd: string };
}

const embed = (json: object, headers: Record<string, string> = {}) =>
  on.daemon.fetch('/v1/embeddings', { json, headers });
const asJson = async (response: Response) => (await response.json()) as Embeddings;
const faultOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; param: string; message: string } };
  return { status: response.status, ...error };
};
const texts = (count: number) => Array.from({ length: count }, (_, index) => `text ${index}`);
const usageOf = async (response: Response) => {
  const usage = await on.daemon.fetch(`/v1/usage/${response.headers.get('x-request-id')}`);
  return (await usage.json()) as Record<string, unknown>;
};
const rounded = (vector: readonly number[]) => vector.map((value) => Number(value.toFixed(5)));

const withEmbeddings = backendNames.flatMap((name) => {
  const { embeddingModel } = backend(name);
  return embeddingModel === undefined ? [] : [{ name, model: embeddingModel }];
});

describe.each(withEmbeddings)('$name', ({ name, model }) => {
  const isSimulated = name === 'simulator';

  test('the SDK gets the same vectors in base64, its default, as in numbers', async () => {
    const input = texts(3);
    const usual = await client.embeddings.create({ model, input });
    const numbers = await client.embeddings.create({ model, input, encoding_format: 'float' });
    expect(usual.data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(usual.data.map(({ embedding }) => rounded(embedding))).toEqual(
      numbers.data.map(({ embedding }) => rounded(embedding)),
    );
    if (!isSimulated) expect(rounded(usual.data[1]?.embedding ?? [])).toEqual(rounded(fakeVector('text 1')));
  });

  test('is metered like any call', async () => {
    const response = await embed({ model, input: texts(2) });
    const { usage, service, model: answered } = await asJson(response);
    expect(answered).toBe(model);
    expect(response.headers.get('x-service-model')).toBe(model);
    expect(response.headers.get('x-service-upstream')).toBe(service.provider);
    if (!isSimulated) {
      expect(usage.prompt_tokens).toBe(6);
      expect(Number(usage.cost_usd)).toBeGreaterThan(0);
    }
    expect(response.headers.get('x-service-cost-usd')).toBe(usage.cost_usd);
    expect(await usageOf(response)).toMatchObject({
      model,
      status: 'completed',
      tokens: { input: usage.prompt_tokens, output: 0 },
      cost: { total_usd: usage.cost_usd },
    });
  });

  test('shortens vectors to unit vectors on request', async () => {
    const { data } = await asJson(await embed({ model, input: 'short', dimensions: 5 }));
    const vector = data[0]?.embedding as number[];
    expect(vector).toHaveLength(5);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 4);
  });

  test('keeps the order of more inputs than one request can have', async () => {
    const input = texts(250);
    const { data } = await asJson(await embed({ model, input }));
    expect(data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
    if (isSimulated) return;
    expect(data.map(({ embedding }) => rounded(embedding as number[]))).toEqual(
      input.map((text) => rounded(fakeVector(text))),
    );
  });

  test('a chat call to it names the endpoint for embeddings', async () => {
    const messages = [{ role: 'user', content: 'Hi.' }];
    const fault = await faultOf(await on.daemon.fetch('/v1/chat/completions', { json: { model, messages } }));
    expect(fault).toMatchObject({ status: 400, code: 'unsupported_value', param: 'model' });
    expect(fault.message).toContain('/v1/embeddings');
  });
});

test('splits calls by the bounds of each provider', async () => {
  const sizes = (bodies: Record<string, unknown>[], member: string) =>
    bodies.map((body) => (body[member] as unknown[]).length).sort((a, b) => b - a);
  await embed({ model: 'google/gemini-embedding-001', input: texts(250) });
  expect(sizes(on.bodiesOf('google'), 'requests')).toEqual([100, 100, 50]);
  await embed({ model: 'chat-only/fake-embed', input: texts(200) });
  expect(sizes(on.bodiesOf('chat-only'), 'input')).toEqual([96, 96, 8]);
  on.forget();
  await embed({
    model: 'openai/text-embedding-3-small',
    input: ['a'.repeat(200_000), 'b'.repeat(200_000), 'c'],
  });
  expect(sizes(on.bodiesOf('openai'), 'input')).toEqual([2, 1]);
});

test('accepts tokens, alone and several, where the provider does', async () => {
  const model = 'openai/text-embedding-3-small';
  const one = await asJson(await embed({ model, input: [1, 2, 3] }));
  expect(one.data).toHaveLength(1);
  const two = await asJson(await embed({ model, input: [[1, 2], [3]] }));
  expect(two.data.map(({ embedding }) => rounded(embedding as number[]))).toEqual(
    [[1, 2], [3]].map((tokens) => rounded(fakeVector(tokens))),
  );
  const fault = await faultOf(await embed({ model: 'google/gemini-embedding-001', input: [[1, 2]] }));
  expect(fault).toMatchObject({ status: 400, code: 'unsupported_value', param: 'input' });
});

test.each(['chat-only/fake-embed', 'google/gemini-embedding-001'])(
  'an input that %s rejects is named by its position in the call, and nothing is charged',
  async (model) => {
    const input = texts(250);
    input[203] = 'bad';
    const response = await embed({ model, input });
    const id = response.headers.get('x-request-id');
    const fault = await faultOf(response);
    expect(fault).toMatchObject({ status: 400, param: 'input[203]' });
    expect(fault.message).toContain('input[203]');
    const usage = await on.daemon.fetch(`/v1/usage/${id}`);
    expect(await usage.json()).toMatchObject({ status: 'failed', charged_usd: '0' });
  },
);

test('a provider that fails is one clear error with its attempts', async () => {
  on.refuse('openai', { status: 503 });
  const response = await embed({ model: 'openai/text-embedding-3-small', input: 'x' });
  const fault = await faultOf(response);
  expect(fault).toMatchObject({ status: 502, code: 'upstream_failed' });
  expect(fault).toHaveProperty('attempts', [expect.objectContaining({ provider: 'openai', status: 503 })]);
});

test.each([
  ['fewer vectors than inputs', { data: [{ index: 0, embedding: [1] }] }],
  ['a position that no input has', { data: [0, 2].map((index) => ({ index, embedding: [1] })) }],
  ['no numbers', { data: [0, 1].map((index) => ({ index, embedding: ['a'] })) }],
  ['cut base64', { data: [0, 1].map((index) => ({ index, embedding: 'AAAA' })) }],
])('an answer with %s is a failure of the provider', async (_, document) => {
  on.openai.script({ raw: { body: JSON.stringify({ object: 'list', ...document }) } });
  const fault = await faultOf(await embed({ model: 'openai/text-embedding-3-small', input: ['a', 'b'] }));
  expect(fault).toMatchObject({ status: 502, code: 'upstream_failed' });
});

test('without a reported usage, tokens are estimated', async () => {
  on.openai.script({ usage: 'none' });
  const { usage } = await asJson(
    await embed({ model: 'openai/text-embedding-3-small', input: 'x'.repeat(400) }),
  );
  expect(usage.prompt_tokens).toBe(100);
});

test('passes members of other formats to providers with this one, and names them where they are left out', async () => {
  const more = { input: 'x', input_type: 'query', user: 'ann' };
  await embed({ model: 'chat-only/fake-embed', ...more, encoding_format: 'base64' });
  expect(on.lastBody('chat-only')).toEqual({ ...more, model: 'fake-embed' });
  const response = await embed({ model: 'google/gemini-embedding-001', ...more });
  expect(response.headers.get('x-service-dropped')).toBe('input_type');
});

test('an Idempotency-Key makes a repeated call free', async () => {
  const call = { model: 'openai/text-embedding-3-small', input: 'once' };
  const headers = { 'idempotency-key': 'embed-once' };
  const first = await embed(call, headers);
  const again = await embed(call, headers);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(await again.text()).toBe(await first.text());
  expect(on.openai.requests).toHaveLength(1);
});

describe('keys', () => {
  const issue = async (limits: object) => {
    const response = await fetch(`${on.daemon.url}/v1/workspaces/me/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${on.daemon.login}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'limited', ...limits }),
    });
    return { authorization: `Bearer ${((await response.json()) as { secret: string }).secret}` };
  };
  const model = 'openai/text-embedding-3-small';

  test('a spending cap holds the upper bound of the cost before the call', async () => {
    const headers = await issue({ limits: { spend_cap: { usd: '0.00001', period: 'day' } } });
    const fault = await faultOf(await embed({ model, input: 'x'.repeat(10_000) }, headers));
    expect(fault).toMatchObject({ status: 403, param: 'limits.spend_cap' });
    expect(on.openai.requests).toHaveLength(0);
    expect((await embed({ model, input: 'x' }, headers)).status).toBe(200);
  });

  test('a list of actions decides whether embeddings are allowed', async () => {
    const refused = await faultOf(await embed({ model, input: 'x' }, await issue({ actions: ['chat'] })));
    expect(refused).toMatchObject({ status: 403, param: 'scopes.actions' });
    const allowed = await embed({ model, input: 'x' }, await issue({ actions: ['embeddings'] }));
    expect(allowed.status).toBe(200);
  });

  test('a list of models applies', async () => {
    const headers = await issue({ limits: { models: ['google/*'] } });
    expect(await faultOf(await embed({ model, input: 'x' }, headers))).toMatchObject({
      status: 403,
      param: 'limits.models',
    });
  });
});

test.each([
  ['an empty text', { input: '' }, 'input'],
  ['an empty text among others', { input: ['a', ''] }, 'input[1]'],
  ['no input', { input: [] }, 'input'],
  ['too many inputs', { input: texts(2049) }, 'input'],
  ['text and tokens', { input: ['a', 3] }, 'input[1]'],
  ['texts in a text', { input: [['a']] }, 'input[0][0]'],
  ['no dimensions', { input: 'a', dimensions: 0 }, 'dimensions'],
  [
    'fallbacks',
    { input: 'a', service: { fallbacks: ['openai/text-embedding-3-large'] } },
    'service.fallbacks',
  ],
])('rejects %s', async (_, body, param) => {
  expect(await faultOf(await embed({ model: 'sim/embedding', ...body }))).toMatchObject({
    status: 400,
    param,
  });
});

test('a call for embeddings to a chat model names the endpoints for chat', async () => {
  const fault = await faultOf(await embed({ model: 'sim/assistant', input: 'Hi.' }));
  expect(fault).toMatchObject({ status: 400, code: 'unsupported_value', param: 'model' });
  expect(fault.message).toContain('/v1/chat/completions');
});

test('the simulator’s vectors are deterministic, and closer for similar texts', async () => {
  const input = ['The cat sat on the mat.', 'A cat sits on a mat', 'Tuning database indexes'];
  const { data } = await client.embeddings.create({ model: 'sim/embedding', input });
  const [first = [], similar = [], other = []] = data.map(({ embedding }) => embedding);
  const cosine = (a: number[], b: number[]) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  expect(cosine(first, first)).toBeCloseTo(1, 5);
  expect(cosine(first, similar)).toBeGreaterThan(0.4);
  expect(cosine(first, other)).toBeLessThan(0.2);
  const again = await client.embeddings.create({ model: 'sim/embedding', input: input[0] ?? '' });
  expect(again.data[0]?.embedding).toEqual(first);
});

test('a client that leaves ends the requests to the provider', async () => {
  on.openai.script({ silent: true });
  const leaving = new AbortController();
  const dropped = on.watchDisconnect('openai')();
  const call = client.embeddings.create(
    { model: 'openai/text-embedding-3-small', input: 'x' },
    { signal: leaving.signal },
  );
  const ended = expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
  await expect.poll(() => on.openai.open).toBe(1);
  leaving.abort();
  await ended;
  await dropped;
  await on.openai.idle();
});

test('the list of models says what kind each one is', async () => {
  const { data } = (await (await on.daemon.fetch('/v1/models')).json()) as {
    data: { id: string; service: { capabilities: { kind: string }; prices: { output: string } } }[];
  };
  const find = (id: string) => data.find((model) => model.id === id)?.service;
  expect(find('openai/text-embedding-3-small')).toMatchObject({
    capabilities: { kind: 'embedding', output_modalities: ['embeddings'] },
    prices: { input: '0.02', output: '0' },
  });
  expect(find('google/gemini-embedding-001')?.capabilities.kind).toBe('embedding');
  expect(find('openai/gpt-5-mini')?.capabilities.kind).toBe('chat');
});

test.each([
  [[1.5], '`input[0]` must be an integer.'],
  [[-1], '`input[0]` must be at least 0.'],
  [[[]], '`input[0]` must have at least 1 item.'],
])('a wrong token is called what it should be: %j', async (input, message) => {
  expect(await faultOf(await embed({ model: 'sim/embedding', input }))).toMatchObject({ message });
});

test('unknown models are 404, and the daemon keeps running', async () => {
  for (const model of ['nobody/has-it', 'nor/this']) {
    const fault = await faultOf(await embed({ model, input: 'Hello.' }));
    expect(fault).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  }
  expect((await on.daemon.fetch('/healthz')).status).toBe(200);
});

test.each([
  ['/v1/completions', '/v1/chat/completions'],
  ['/v1/images/generations', '/v1/responses'],
  ['/v1/audio/speech', '/v1/chat/completions'],
  ['/v1/audio/transcriptions', '/v1/chat/completions'],
  ['/v1/rerank', '/v1/embeddings'],
  ['/v2/rerank', '/v1/decisions'],
])('%s is a 404 that names what to use', async (path, alternative) => {
  const fault = await faultOf(await on.daemon.fetch(path, { json: { model: 'x' } }));
  expect(fault).toMatchObject({ status: 404, code: 'not_found' });
  expect(fault.message).toContain(alternative);
});
