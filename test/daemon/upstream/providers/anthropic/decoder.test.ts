import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UpstreamFailure } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { anthropicAdapter } from '../../../../../src/daemon/upstream/providers/anthropic/index.ts';
import { decode, summarize, upstreamCall } from '../../../../support/upstream-call.ts';

const model = 'claude-opus-4-8';
const adapter = anthropicAdapter({ name: 'anthropic', baseUrl: 'https://api.anthropic.com' });
const newDecoder = () => adapter.decoder(upstreamCall(model));
const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../../fixtures/providers/anthropic/${name}.chunks.txt`, import.meta.url));
const summaryOf = (name: string) => summarize(decode(newDecoder(), fixture(name)));

const sse = (...events: Record<string, unknown>[]): Uint8Array =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
const start = (index: number, block: unknown) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const delta = (index: number, change: unknown) => ({ type: 'content_block_delta', index, delta: change });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const end = (reason: string, usage = {}) => ({
  type: 'message_delta',
  delta: { stop_reason: reason },
  usage,
});
const over = { type: 'message_stop' };

function failureOf(bytes: Uint8Array): UpstreamFailure {
  try {
    decode(newDecoder(), bytes);
  } catch (error) {
    if (error instanceof UpstreamFailure) return error;
    throw error;
  }
  throw new Error('it was decoded');
}

describe('a recorded answer', () => {
  test('is one message, and its input includes cached tokens', () => {
    expect(summaryOf('text')).toEqual({
      items: [{ kind: 'message', text: 'Grüße aus Zürich — 東京も晴れです。 🌤️👩‍🚀' }],
      usage: { input: 1001, cachedInput: 900, cacheWrite: 60, output: 29, reasoning: 0 },
      finish: 'stop',
    });
  });

  test('numbers items from 0 in order, and keeps thoughts as they must be sent back', () => {
    const origin = (payload: unknown) => ({ provider: 'anthropic', model, payload });
    const thinking = 'Two cities, so two look-ups: Köln und 京都.';
    expect(summaryOf('thinking-then-parallel-tools')).toEqual({
      items: [
        {
          kind: 'reasoning',
          reasoning: thinking,
          origin: origin({ thinking, signature: 'EqQBCkYICxgCKkDf2sig+thinking/one==' }),
        },
        {
          kind: 'reasoning',
          origin: origin({ data: 'EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIw' }),
        },
        { kind: 'message', text: "I'll look up both." },
        {
          kind: 'function_call',
          callId: 'toolu_01Vb4Xq2yPzRt8LmN6cKd3Wf',
          name: 'get_weather',
          arguments: '{"city": "Köln"}',
        },
        {
          kind: 'function_call',
          callId: 'toolu_01Hs9Je5uQwYx7BvT2nGa4Rk',
          name: 'get_weather',
          arguments: '{"city": "京都"}',
        },
      ],
      usage: { input: 41, cachedInput: 0, cacheWrite: 0, output: 188, reasoning: 61 },
      finish: 'stop',
    });
  });

  test('gives a call without arguments an empty object', () => {
    expect(summaryOf('tool-without-arguments').items[1]).toEqual({
      kind: 'function_call',
      callId: 'toolu_01Zk7Ty3',
      name: 'refresh',
      arguments: '{}',
    });
  });

  test('has the provider’s text for a refusal', () => {
    expect(summaryOf('refusal')).toMatchObject({
      items: [{ kind: 'message', refusal: 'This request was blocked under the usage policy.' }],
      finish: 'content_filter',
    });
  });

  test.each(['text', 'thinking-then-parallel-tools', 'tool-without-arguments', 'refusal'])(
    'is the same wherever its bytes are split: %s',
    (name) => {
      const bytes = fixture(name);
      const whole = decode(newDecoder(), bytes);
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
          expect(decode(newDecoder(), bytes, cuts)).toEqual(whole);
        }),
        { numRuns: 60 },
      );
      const everyByte = Array.from(bytes.keys());
      expect(decode(newDecoder(), bytes, everyByte)).toEqual(whole);
    },
  );

  test.each(['text', 'thinking-then-parallel-tools'])(
    'is broken if it ends anywhere before its stop reason: %s',
    (name) => {
      const bytes = fixture(name);
      const closing = Buffer.from(bytes).lastIndexOf('event: message_delta');
      for (let length = 0; length <= closing; length += 7) {
        expect(failureOf(bytes.subarray(0, length)).kind).toBe('broken');
      }
    },
  );
});

describe('usage', () => {
  test('replaces earlier counts instead of adding to them, and keeps counts that are not repeated', () => {
    const bytes = sse(
      {
        type: 'message_start',
        message: { usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 1 } },
      },
      end('end_turn', { input_tokens: 12, cache_read_input_tokens: null, output_tokens: 7 }),
      end('end_turn', { output_tokens: 9 }),
      over,
    );
    const usages = decode(newDecoder(), bytes).filter((event) => event.type === 'usage');
    expect(usages.at(-1)).toMatchObject({ tokens: { input: 17, cachedInput: 5, output: 9 } });
  });

  test('of the prompt is emitted with the first block, and of the output only at the end', () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 900, cache_creation_input_tokens: 5 };
    const started = { type: 'message_start', message: { usage: { ...usage, output_tokens: 1 } } };
    const decoder = newDecoder();
    // Until a block starts, the call may still fail over to another provider.
    expect(decoder.push(sse(started)).events).toEqual([]);
    const bytes = sse(start(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'half' }));
    expect(decoder.push(bytes).events).toMatchObject([
      { type: 'item-started' },
      { type: 'prompt-counted', tokens: { input: 915, cachedInput: 900, cacheWrite: 5 } },
      { type: 'text', delta: 'half' },
    ]);
  });
});

test('that is missing at the end is not taken from the start', () => {
  const bytes = sse(
    { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
    start(0, { type: 'text', text: 'ten words' }),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    over,
  );
  const events = decode(newDecoder(), bytes);
  expect(events.filter(({ type }) => type === 'usage')).toEqual([]);
  expect(events).toContainEqual({
    type: 'prompt-counted',
    tokens: { input: 10, cachedInput: 0, cacheWrite: 0 },
  });
});

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'max_output_tokens'],
  ['model_context_window_exceeded', 'max_output_tokens'],
  ['refusal', 'content_filter'],
])('the stop reason %s is %s', (reason, finish) => {
  const block = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'content_block_stop', index: 0 },
  ];
  expect(decode(newDecoder(), sse(...block, end(reason), over)).at(-1)).toMatchObject({
    type: 'finished',
    reason: finish,
  });
});

describe('blocks', () => {
  test('of consecutive text are one message', () => {
    const bytes = sse(
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'one ' }),
      stop(0),
      start(1, { type: 'text', text: 'two' }),
      stop(1),
      end('end_turn'),
      over,
    );
    expect(summarize(decode(newDecoder(), bytes)).items).toEqual([{ kind: 'message', text: 'one two' }]);
  });

  test('of two interleaved calls keep their own arguments', () => {
    const json = (index: number, text: string) =>
      delta(index, { type: 'input_json_delta', partial_json: text });
    const bytes = sse(
      start(0, { type: 'tool_use', id: 'toolu_a', name: 'a', input: {} }),
      json(0, '{"x":'),
      start(1, { type: 'tool_use', id: 'toolu_b', name: 'b', input: {} }),
      json(1, '{"y":'),
      json(0, '1}'),
      stop(0),
      json(1, '2}'),
      stop(1),
      end('tool_use'),
      over,
    );
    expect(summarize(decode(newDecoder(), bytes)).items).toMatchObject([
      { callId: 'toolu_a', arguments: '{"x":1}' },
      { callId: 'toolu_b', arguments: '{"y":2}' },
    ]);
  });

  test('of a whole call have its id, name and arguments', () => {
    const bytes = sse(
      start(0, { type: 'tool_use', id: 'toolu_a', name: 'a', input: { x: 1 } }),
      stop(0),
      end('tool_use'),
      over,
    );
    const [item] = summarize(decode(newDecoder(), bytes)).items;
    expect(item).toMatchObject({ callId: 'toolu_a', name: 'a', arguments: '{"x":1}' });
  });

  test('of a call with whole and partial input use the partial input', () => {
    const bytes = sse(
      start(0, { type: 'tool_use', id: 'toolu_a', name: 'a', input: { x: 1 } }),
      delta(0, { type: 'input_json_delta', partial_json: '{"x":1' }),
      delta(0, { type: 'input_json_delta', partial_json: '}' }),
      stop(0),
      end('tool_use'),
      over,
    );
    expect(summarize(decode(newDecoder(), bytes)).items).toMatchObject([{ arguments: '{"x":1}' }]);
  });

  test('of text continued after a call are two messages', () => {
    const text = (value: string) => delta(0, { type: 'text_delta', text: value });
    const called = start(1, { type: 'tool_use', id: 'toolu_a', name: 'a', input: {} });
    const started = start(0, { type: 'text', text: '' });
    const bytes = sse(started, text('one'), called, text('two'), stop(0), stop(1), end('tool_use'), over);
    expect(summarize(decode(newDecoder(), bytes)).items).toMatchObject([
      { kind: 'message', text: 'one' },
      { kind: 'function_call', callId: 'toolu_a' },
      { kind: 'message', text: 'two' },
    ]);
  });

  test('of text without a start are not lost', () => {
    const text = (value: string) => delta(0, { type: 'text_delta', text: value });
    const bytes = sse(text('one '), text('two'), stop(0), end('end_turn'), over);
    expect(summarize(decode(newDecoder(), bytes)).items).toEqual([{ kind: 'message', text: 'one two' }]);
  });

  test.each([
    ['without ids', undefined],
    ['with one id', 'toolu_same'],
  ])('of calls %s each get a unique id', (_what, id) => {
    const call = (index: number) => [
      start(index, { type: 'tool_use', id, name: 'a', input: {} }),
      stop(index),
    ];
    const { items } = summarize(decode(newDecoder(), sse(...call(0), ...call(1), end('tool_use'), over)));
    const ids = items.map((item) => (item.kind === 'function_call' ? item.callId : ''));
    expect(ids).toEqual([id ?? expect.stringMatching(/^call_/), expect.stringMatching(/^call_/)]);
    expect(new Set(ids).size).toBe(2);
  });

  test('of hidden thoughts are still sent back; unsigned ones are not', () => {
    const thought = (signature: unknown) =>
      sse(
        start(0, { type: 'thinking', thinking: '', signature: '' }),
        ...(signature ? [delta(0, { type: 'signature_delta', signature })] : []),
        stop(0),
        end('end_turn'),
        over,
      );
    const [signed] = summarize(decode(newDecoder(), thought('sig'))).items;
    expect(signed).toMatchObject({
      kind: 'reasoning',
      origin: { payload: { thinking: '', signature: 'sig' } },
    });
    expect(summarize(decode(newDecoder(), thought(undefined))).items).toEqual([{ kind: 'reasoning' }]);
  });

  test('of server tools are ignored', () => {
    const bytes = sse(
      start(0, { type: 'server_tool_use', id: 'srvtoolu_1' }),
      stop(0),
      end('end_turn'),
      over,
    );
    expect(summarize(decode(newDecoder(), bytes)).items).toEqual([]);
  });
});

describe('a stream that breaks off', () => {
  const error = (type: string) => ({ type: 'error', error: { details: null, type, message: 'Overloaded' } });

  test.each([
    ['overloaded_error', 'server'],
    ['api_error', 'server'],
    ['rate_limit_error', 'rate-limited'],
    ['billing_error', 'billing'],
    ['authentication_error', 'authentication'],
    ['invalid_request_error', 'caller'],
  ])('with %s fails as %s', (type, kind) => {
    expect(failureOf(sse(error(type))).kind).toBe(kind);
  });

  test('still emits the content before an error in the same read', () => {
    const decoder = newDecoder();
    const bytes = sse(
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'half' }),
      error('overloaded_error'),
    );
    expect(decoder.push(bytes).events).toHaveLength(2);
    expect(decoder.failure?.kind).toBe('server');
  });

  test('with something that is not JSON fails', () => {
    expect(failureOf(Buffer.from('event: message_start\ndata: {"type":\n\n')).kind).toBe('broken');
  });
});

test.each(['close', '[DONE]'])('is complete after the stop reason, ended by %s', (how) => {
  const events = [
    start(0, { type: 'text', text: 'whole' }),
    stop(0),
    end('max_tokens', { output_tokens: 3 }),
  ];
  const bytes = Buffer.concat([sse(...events), Buffer.from(how === 'close' ? '' : 'data: [DONE]\n\n')]);
  const { items, finish } = summarize(decode(newDecoder(), bytes));
  expect({ items, finish }).toEqual({
    items: [{ kind: 'message', text: 'whole' }],
    finish: 'max_output_tokens',
  });
  expect(failureOf(sse(...events.slice(0, 2))).kind).toBe('broken');
});

test('a call without a name is a broken answer', () => {
  expect(failureOf(sse(start(0, { type: 'tool_use', id: 'toolu_a', input: {} }), over)).kind).toBe('broken');
});

test('nothing after message_stop is awaited', () => {
  const decoder = newDecoder();
  decoder.push(sse(end('end_turn'), over));
  expect(decoder.isComplete).toBe(true);
  expect(decoder.push(Buffer.from('data: [DONE]\n\ndata: nonsense\n\n')).events).toEqual([]);
});

describe('an answer that starts again after a text', () => {
  const begin = (id?: string) => ({ type: 'message_start', message: { id, model, usage: {} } });
  const said = [start(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'Hi' }), stop(0)];
  const twice = (first?: string, second?: string) =>
    sse(begin(first), ...said, begin(second), end('end_turn', { output_tokens: 1 }), over);

  test.each([
    ['a', 'a'],
    ['a', undefined],
    [undefined, undefined],
  ])('by %s, then %s, is the same', (first, second) => {
    expect(summarize(decode(newDecoder(), twice(first, second))).items).toMatchObject([{ text: 'Hi' }]);
  });

  test.each([
    ['a', 'b'],
    [undefined, 'b'],
  ])('by %s, then %s, is another', (first, second) => {
    expect(failureOf(twice(first, second)).kind).toBe('broken');
  });
});
