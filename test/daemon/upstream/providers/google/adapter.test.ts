import { describe, expect, onTestFinished, test } from 'vitest';
import type { Inference } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamFailure } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { googleAdapter } from '../../../../../src/daemon/upstream/providers/google/index.ts';
import { type FakeGeminiOptions, startFakeGemini } from '../../../../support/fake-gemini.ts';
import type { GeminiRefusal } from '../../../../support/fake-gemini-rules.ts';
import { user } from '../../../../support/inference.ts';
import {
  answered,
  askProvider,
  assistant,
  called,
  functionTool,
  replay,
  summarize,
  upstreamCall,
} from '../../../../support/upstream-call.ts';

async function connect(options?: FakeGeminiOptions) {
  const fake = await startFakeGemini(options);
  onTestFinished(() => fake.close());
  let calls = 0;
  const makeCallId = () => `call_${++calls}`;
  const adapter = googleAdapter({ name: 'google', baseUrl: fake.baseUrl }, { makeCallId });
  const ask = (model: string, inference?: Partial<Inference>) =>
    askProvider(adapter, upstreamCall(model, inference));
  return { fake, adapter, ask };
}

test('an answer is read from the fake server', async () => {
  const { ask, fake } = await connect();
  fake.answer({ parts: [{ text: 'Grüße aus 京都, in several pieces.' }], usage: { thoughtsTokenCount: 3 } });
  expect(summarize(await ask('gemini-2.5-flash'))).toEqual({
    items: [{ kind: 'message', text: 'Grüße aus 京都, in several pieces.' }],
    usage: { input: 11, cachedInput: 0, cacheWrite: 0, output: 10, reasoning: 3 },
    finish: 'stop',
  });
  expect(fake.requests[0]?.path).not.toContain('key');
});

test('an old model that sends STOP with every event is read to the end', async () => {
  const { ask, fake } = await connect();
  fake.answer({ parts: [{ text: 'This takes several pieces.' }], stopsEveryPiece: true });
  expect(summarize(await ask('gemini-1.5-flash')).items).toEqual([
    { kind: 'message', text: 'This takes several pieces.' },
  ]);
});

test.each(['gemini-2.5-flash', 'gemini-3-flash-preview', 'gemini-4-argon'])(
  'thoughts, parallel calls and their results make a round trip with %s',
  async (model) => {
    const { ask, fake } = await connect();
    const tools = [functionTool('get_weather', { type: 'object', properties: { city: { type: 'string' } } })];
    const reasoning = { effort: 'medium', summary: 'auto' };
    fake.answer(
      {
        parts: [
          { thought: 'Two cities.' },
          { text: 'One moment.' },
          { call: 'get_weather', args: { city: 'Köln' } },
          { call: 'get_weather' },
        ],
      },
      { parts: [{ call: 'get_weather', args: { city: '京都' }, id: 'given' }] },
      { parts: [{ text: 'All are sunny.' }] },
      { parts: [{ text: 'You are welcome.' }] },
    );
    const items = [user('The weather in Köln, here, and in 京都?')];
    const say = async () => {
      const events = await ask(model, { items, tools, reasoning });
      const said = replay(events);
      const calls = said.flatMap((item) => (item.type === 'function_call' ? [item.callId] : []));
      items.push(...said, ...calls.map((id) => answered(id, 'sunny')));
      return calls;
    };
    expect(new Set(await say()).size).toBe(2);
    expect(await say()).toEqual(['given']);
    await say();
    items.push(user('Thank you.'));
    await say();
    expect(items.at(-1)?.type).toBe(model === 'gemini-2.5-flash' ? 'message' : 'reasoning');
  },
);

test.each(['2fa_code', `mcp__server__${'x'.repeat(60)}`])(
  'a function with an invalid name is renamed: %s',
  async (name) => {
    const { ask, fake } = await connect();
    const tools = [functionTool(name), functionTool('clock')];
    const toolChoice = { mode: 'function', name } as const;
    const declared = () => {
      const declared = JSON.stringify(fake.requests.at(-1)?.body.tools);
      return /"name":"([^"]+)"/.exec(declared)?.[1] ?? '';
    };
    fake.answer({ parts: [{ text: 'Wait.' }] });
    await ask('gemini-3.5-flash', { tools });
    const theirs = declared();
    expect(theirs).toMatch(/^[A-Za-z_][\w.:-]{0,63}$/);
    fake.answer({ parts: [{ call: theirs }] }, { parts: [{ text: 'Done.' }] });
    const items = [user('?')];
    const first = await ask('gemini-3.5-flash', { items, tools, toolChoice });
    const [call] = summarize(first).items.filter(({ kind }) => kind === 'function_call');
    expect(call).toMatchObject({ name });
    const history = [...items, ...replay(first), answered('call_1', 'done')];
    await ask('gemini-3.5-flash', { items: history, tools });
    expect(JSON.stringify(fake.requests.at(-1)?.body)).not.toContain(`"${name}"`);
    expect(declared()).toBe(theirs);
  },
);

test('calls of another model pass the signature check', async () => {
  const { ask, fake } = await connect();
  fake.answer({ parts: [{ call: 'look' }] });
  const tools = [functionTool('look')];
  const first = replay(await ask('gemini-3-flash-preview', { tools }));
  const items = [
    user('Hello'),
    ...first,
    answered('call_1', 'A'),
    called('toolu_9', 'look'),
    answered('toolu_9', 'B'),
  ];
  await expect(ask('gemini-3.8-flash', { items, tools })).resolves.toBeDefined();
});

test.each<[string, string, Partial<Inference>]>([
  ['a structured answer', 'gemini-2.5-flash', { format: schemaFormat() }],
  [
    'a structured answer with functions',
    'gemini-2.5-flash',
    { format: schemaFormat(), tools: [functionTool('look')] },
  ],
  [
    'a structured answer with a forced call',
    'gemini-3.5-flash',
    { format: schemaFormat(), tools: [functionTool('look')], toolChoice: { mode: 'function', name: 'look' } },
  ],
  ['penalties', 'gemini-2.5-flash', { sampling: { presencePenalty: 1, frequencyPenalty: 1 } }],
  ['no thinking', 'gemini-3.1-pro-preview', { reasoning: { effort: 'none', summary: undefined } }],
  ['effort of an older model', 'gemini-2.5-pro', { reasoning: { effort: 'high', summary: 'auto' } }],
  ['the assistant’s last word', 'gemini-3.6-flash', { items: [user('Hi'), assistant('Well, ')] }],
  ['the assistant’s first word', 'gemini-3.6-flash', { items: [called('a', 'look'), answered('a', 'A')] }],
  ['blank texts', 'gemini-3.6-flash', { items: [user(' '), assistant(''), user('Hi')] }],
])('the API accepts %s', async (_what, model, inference) => {
  const { ask } = await connect();
  await expect(ask(model, inference)).resolves.toBeDefined();
});

function schemaFormat(): Inference['format'] {
  const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 1 } } };
  return { type: 'json_schema', name: 'person', description: undefined, schema, strict: true };
}

describe('a failure', () => {
  const refusal = (status: number, name: string, message = 'x', details?: GeminiRefusal['details']) => ({
    status,
    name,
    message,
    ...(details && { details }),
  });

  test.each<[string, GeminiRefusal, string, Record<string, unknown>]>([
    ['no rights', refusal(403, 'PERMISSION_DENIED'), 'forbidden', {}],
    ['an unpaid account', refusal(400, 'FAILED_PRECONDITION', 'Please enable billing.'), 'billing', {}],
    ['an empty account', refusal(429, 'RESOURCE_EXHAUSTED', 'Your credits are depleted.'), 'billing', {}],
    [
      'the wrong country',
      refusal(400, 'FAILED_PRECONDITION', 'User location is not supported.'),
      'server',
      {},
    ],
    ['an unknown model', refusal(404, 'NOT_FOUND'), 'unknown-model', {}],
    ['an overload', refusal(503, 'UNAVAILABLE'), 'server', { status: 503 }],
    ['an accident', refusal(500, 'INTERNAL'), 'server', {}],
    [
      'a long prompt',
      refusal(
        400,
        'INVALID_ARGUMENT',
        'The input token count (12) exceeds the maximum number of tokens allowed (9).',
      ),
      'caller',
      { code: 'context_length_exceeded' },
    ],
    [
      'a value not supported',
      refusal(400, 'INVALID_ARGUMENT', 'Penalty is not enabled for models/gemini'),
      'caller',
      { code: 'unsupported_value', publicMessage: 'Penalty is not enabled for models/gemini' },
    ],
    [
      'too many calls',
      refusal(429, 'RESOURCE_EXHAUSTED', 'Quota.', [
        { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
      ]),
      'rate-limited',
      { retryAfterSeconds: 35 },
    ],
  ])('is classified: %s', async (_what, error, kind, details) => {
    const { ask, fake } = await connect();
    fake.answer({ error });
    await expect(ask('gemini-3.5-flash')).rejects.toMatchObject({ kind, details });
  });

  test('of a wrong key is not the caller’s fault, although the status says so', async () => {
    const { ask } = await connect({ keys: ['another-key'] });
    await expect(ask('gemini-3.5-flash')).rejects.toMatchObject({ kind: 'authentication' });
  });

  test.each([403, 404])('that is a web page says nothing about key or model: %i', (status) => {
    const adapter = googleAdapter(
      { name: 'google', baseUrl: 'http://127.0.0.1:9' },
      { makeCallId: () => 'c' },
    );
    expect(adapter.failure(status, {}, '<!DOCTYPE html>\n<title>Error</title>').kind).toBe('server');
  });

  test.each([
    'Logprobs is not enabled for models/gemini-2.5-flash',
    'Unable to submit request because Logprobs is not supported for this model.',
  ])('of log probabilities names the option: %s', async (message) => {
    const { ask, fake } = await connect();
    fake.answer({ error: refusal(400, 'INVALID_ARGUMENT', message) });
    await expect(ask('gemini-2.5-flash')).rejects.toMatchObject({
      kind: 'caller',
      details: { param: 'top_logprobs' },
    });
  });

  test('may come in a list', () => {
    const adapter = googleAdapter(
      { name: 'google', baseUrl: 'http://127.0.0.1:9' },
      { makeCallId: () => 'x' },
    );
    const body = JSON.stringify([{ error: refusal(404, 'NOT_FOUND') }]);
    expect(adapter.failure(404, {}, body).kind).toBe('unknown-model');
    expect(adapter.failure(429, { 'retry-after': '7' }, body).details.retryAfterSeconds).toBe(7);
  });

  test('repeats neither keys nor the caller’s text', async () => {
    const { ask, fake } = await connect();
    const message = `Key AIzaSyA-secretsecretsecret: Invalid value at 'contents[0]' (text), "my private words"`;
    fake.answer({ error: refusal(400, 'INVALID_ARGUMENT', message) });
    const failure = await ask('gemini-3.5-flash').catch((error: UpstreamFailure) => error);
    expect(failure).toMatchObject({
      details: { publicMessage: `Key ***: Invalid value at 'contents[0]' (text), "…"` },
      message: 'google answered 400 INVALID_ARGUMENT',
    });
  });
});

describe('a stream', () => {
  const parts = [{ text: 'A long answer that never ends well.' }];

  test.each(['error', 'plain-error'] as const)('with an error event fails with it: %s', async (by) => {
    const { ask, fake } = await connect();
    fake.answer({ parts, interrupt: { afterEvents: 2, by } });
    await expect(ask('gemini-3.5-flash')).rejects.toMatchObject({ kind: 'server' });
  });

  test('that closes early is broken, even without a network error', async () => {
    const { ask, fake } = await connect();
    fake.answer({ parts, interrupt: { afterEvents: 2, by: 'close' } });
    await expect(ask('gemini-3.5-flash')).rejects.toMatchObject({ kind: 'broken' });
  });

  test('of a blocked prompt ends with content_filter', async () => {
    const { ask, fake } = await connect();
    fake.answer({ blockReason: 'PROHIBITED_CONTENT' });
    expect(summarize(await ask('gemini-3.5-flash'))).toMatchObject({ items: [], finish: 'content_filter' });
  });
});
