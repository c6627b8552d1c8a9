import { describe, expect, onTestFinished, test } from 'vitest';
import type { Inference } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamFailure } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { anthropicAdapter } from '../../../../../src/daemon/upstream/providers/anthropic/index.ts';
import { type FakeAnthropicOptions, startFakeAnthropic } from '../../../../support/fake-anthropic.ts';
import { user } from '../../../../support/inference.ts';
import {
  answered,
  askProvider,
  assistant,
  functionTool,
  replay,
  summarize,
  upstreamCall,
} from '../../../../support/upstream-call.ts';

async function connect(options?: FakeAnthropicOptions) {
  const fake = await startFakeAnthropic(options);
  onTestFinished(() => fake.close());
  const adapter = anthropicAdapter({ name: 'anthropic', baseUrl: fake.baseUrl });
  const ask = (model: string, inference?: Partial<Inference>) =>
    askProvider(adapter, upstreamCall(model, inference));
  return { fake, adapter, ask };
}

test('an answer is read from the fake server', async () => {
  const { ask, fake } = await connect();
  fake.answer({ blocks: [{ text: 'Grüße aus 京都, in several pieces.' }] });
  expect(summarize(await ask('claude-sonnet-5'))).toEqual({
    items: [{ kind: 'message', text: 'Grüße aus 京都, in several pieces.' }],
    usage: { input: 25, cachedInput: 0, cacheWrite: 0, output: 12, reasoning: 0 },
    finish: 'stop',
  });
});

test.each(['claude-sonnet-4-5', 'claude-opus-4-8', 'claude-opus-5-5', 'claude-fable-5-1'])(
  'thoughts, parallel calls and their results make a round trip with %s',
  async (model) => {
    const { ask, fake } = await connect();
    const tools = [functionTool('get_weather', { type: 'object', properties: { city: { type: 'string' } } })];
    const reasoning = { effort: 'medium', summary: 'auto' };
    fake.answer(
      {
        blocks: [
          { thinking: 'Two cities.' },
          { redacted: 'sealed' },
          { text: 'One moment.' },
          { tool: 'get_weather', input: { city: 'Köln' } },
          { tool: 'get_weather' },
        ],
      },
      { blocks: [{ text: 'Both are sunny.' }] },
    );
    const items = [user('The weather in Köln and here?')];
    const first = await ask(model, { items, tools, reasoning });
    const calls = replay(first);
    expect(calls.map(({ type }) => type)).toEqual([
      'reasoning',
      'reasoning',
      'message',
      'function_call',
      'function_call',
    ]);
    const ids = calls.flatMap((item) => (item.type === 'function_call' ? [item.callId] : []));
    const results = ids.map((id) => answered(id, 'sunny'));
    const second = await ask(model, { items: [...items, ...calls, ...results], tools, reasoning });
    expect(summarize(second).items).toEqual([{ kind: 'message', text: 'Both are sunny.' }]);
  },
);

test('thoughts of one model are not sent to another, which would refuse them', async () => {
  const { ask, fake } = await connect();
  fake.answer({ blocks: [{ thinking: 'Hm.' }, { text: 'Hello.' }] });
  const history = [user('Hi'), ...replay(await ask('claude-opus-4-8')), user('And?')];
  await expect(ask('claude-sonnet-5', { items: history })).resolves.toBeDefined();
  const sent = fake.requests.at(-1)?.body.messages;
  expect(JSON.stringify(sent)).not.toContain('signature');
});

test.each<[string, string, Partial<Inference>]>([
  ['a structured answer', 'claude-sonnet-4-6', { format: schemaFormat() }],
  ['a structured answer of an old model', 'claude-3-5-haiku-20241022', { format: schemaFormat() }],
  ['a forced tool with thinking', 'claude-sonnet-4-5', { ...forced(), reasoning: high() }],
  ['a forced tool that cannot be forced', 'claude-sonnet-5-5', forced()],
  [
    'sampling that a model does not know',
    'claude-opus-5',
    { sampling: { temperature: 2, topP: 0.5, topK: 1 } },
  ],
  ['both kinds of sampling', 'claude-haiku-4-5', { sampling: { temperature: 2, topP: 0.5 } }],
  ['stop sequences of white space', 'claude-haiku-4-5', { sampling: { stop: ['\n\n'] } }],
  ['the assistant’s last word', 'claude-opus-4-6', { items: [user('Hi'), assistant('Well, ')] }],
  [
    'the assistant’s last word, to be completed',
    'claude-opus-4-5',
    { items: [user('Hi'), assistant('Well, ')] },
  ],
  ['the assistant’s first word', 'claude-opus-4-6', { items: [assistant('Well?'), user('Hi')] }],
  ['blank texts', 'claude-opus-4-6', { items: [user(' '), assistant(''), user('Hi')] }],
  ['a small budget with thoughts', 'claude-sonnet-4-5', { outputTokensMax: 1500, reasoning: high() }],
])('the API accepts %s', async (_what, model, inference) => {
  const { ask } = await connect();
  await expect(ask(model, inference)).resolves.toBeDefined();
});

function schemaFormat(): Inference['format'] {
  const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 1 } } };
  return { type: 'json_schema', name: 'person', description: undefined, schema, strict: true };
}

function forced(): Partial<Inference> {
  return { tools: [functionTool('look', { anyOf: [{}, {}] })], toolChoice: { mode: 'required' } };
}

function high(): Inference['reasoning'] {
  return { effort: 'high', summary: undefined };
}

describe('a failure', () => {
  test.each<[string, { status: number; type: string; message: string }, string, Record<string, unknown>]>([
    ['a wrong key', { status: 401, type: 'authentication_error', message: 'x' }, 'authentication', {}],
    ['a key without rights', { status: 403, type: 'permission_error', message: 'x' }, 'forbidden', {}],
    ['an unpaid account', { status: 402, type: 'billing_error', message: 'x' }, 'billing', {}],
    [
      'an empty account',
      {
        status: 400,
        type: 'invalid_request_error',
        message: 'Your credit balance is too low to access the API.',
      },
      'billing',
      {},
    ],
    ['an unknown model', { status: 404, type: 'not_found_error', message: 'model: x' }, 'unknown-model', {}],
    ['too many calls', { status: 429, type: 'rate_limit_error', message: 'x' }, 'rate-limited', {}],
    ['a word of JavaScript', { status: 500, type: 'constructor', message: 'x' }, 'server', { status: 500 }],
    ['an overload', { status: 529, type: 'overloaded_error', message: 'x' }, 'server', { status: 529 }],
    ['an accident', { status: 500, type: 'api_error', message: 'x' }, 'server', {}],
    [
      'a long prompt',
      {
        status: 400,
        type: 'invalid_request_error',
        message: 'prompt is too long: 208310 tokens > 200000 maximum',
      },
      'caller',
      {
        code: 'context_length_exceeded',
        publicMessage: 'prompt is too long: 208310 tokens > 200000 maximum',
      },
    ],
    [
      'a large body',
      { status: 413, type: 'request_too_large', message: 'Too big' },
      'caller',
      { code: 'invalid_request' },
    ],
    [
      'a value not supported',
      { status: 400, type: 'invalid_request_error', message: 'images are not supported' },
      'caller',
      { code: 'unsupported_value' },
    ],
  ])('is classified: %s', async (_what, error, kind, details) => {
    const { ask, fake } = await connect();
    fake.answer({ error });
    await expect(ask('claude-sonnet-5')).rejects.toMatchObject({ kind, details });
  });

  test('has the Retry-After', async () => {
    const { ask, fake } = await connect();
    const refused = { status: 429, type: 'rate_limit_error', message: 'x', headers: { 'retry-after': '17' } };
    fake.answer({ error: refused });
    await expect(ask('claude-sonnet-5')).rejects.toMatchObject({ details: { retryAfterSeconds: 17 } });
  });

  test('keeps the names of models and keys', async () => {
    const { ask } = await connect({ models: ['claude-sonnet-5'], keys: ['another-key'] });
    await expect(ask('claude-sonnet-5')).rejects.toMatchObject({ kind: 'authentication' });
    const { ask: askAgain } = await connect({ models: ['claude-sonnet-5'] });
    await expect(askAgain('claude-nothing')).rejects.toMatchObject({ kind: 'unknown-model' });
  });

  test('repeats neither keys nor the caller’s text', async () => {
    const { ask, fake } = await connect();
    const message =
      'bad sk-ant-api03-secretsecret: "my private words here" in messages.0, "thinking.type"\nis wrong';
    fake.answer({ error: { status: 400, type: 'invalid_request_error', message } });
    const failure = await ask('claude-sonnet-5').catch((error: UpstreamFailure) => error);
    expect(failure).toMatchObject({
      details: { publicMessage: 'bad ***: "…" in messages.0, "thinking.type" is wrong' },
      message: 'anthropic answered 400 invalid_request_error',
    });
  });

  test('from something other than the API is classified by its status', () => {
    const adapter = anthropicAdapter({ name: 'anthropic', baseUrl: 'http://127.0.0.1:9' });
    expect(adapter.failure(502, {}, '<html>Bad gateway</html>').kind).toBe('server');
    expect(adapter.failure(403, {}, '<!doctype html><h1>Blocked</h1>').kind).toBe('server');
    expect(adapter.failure(422, {}, '').kind).toBe('caller');
    expect(adapter.failure(408, {}, '').kind).toBe('timeout');
  });
});

describe('a stream', () => {
  const blocks = [{ text: 'A long answer that never ends well.' }];

  test('with an error event fails with it', async () => {
    const { ask, fake } = await connect();
    fake.answer({ blocks, interrupt: { afterEvents: 4, by: 'overloaded_error' } });
    await expect(ask('claude-sonnet-5')).rejects.toMatchObject({ kind: 'server' });
  });

  test('that closes early is broken, even without a network error', async () => {
    const { ask, fake } = await connect();
    fake.answer({ blocks, interrupt: { afterEvents: 5, by: 'close' } });
    await expect(ask('claude-sonnet-5')).rejects.toMatchObject({ kind: 'broken' });
  });
});
