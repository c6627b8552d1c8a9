import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { InferenceEvent } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import { chatAdapter } from '../../../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { chatChunks } from '../../../../support/fake-openai-chat.ts';
import { callOf, chunkOf, decode, sse, summary } from '../../upstream-fixture.ts';

type Json = Record<string, unknown>;

const adapter = chatAdapter({ name: 'p', baseUrl: 'https://p.example/v1' });

function decoded(...data: (Json | string)[]) {
  const { events, frames } = decode(adapter.decoder(callOf()), sse(...data));
  return { events, frames, ...summary(events) };
}

const call = (piece: Json) => chunkOf({ tool_calls: [piece] });
const stop = chunkOf({}, { finish: 'stop' });
const calls = chunkOf({}, { finish: 'tool_calls' });
const first = (events: InferenceEvent[], type: InferenceEvent['type']) =>
  events.find((event) => event.type === type);

/** The message that a client of the format assembles from frames. */
function assembled(frames: { raw: string }[]) {
  const found: { id?: string; name?: string; arguments: string }[] = [];
  for (const { raw } of frames) {
    for (const choice of JSON.parse(raw).choices) {
      for (const piece of choice.delta.tool_calls ?? []) {
        found[piece.index] ??= { arguments: '' };
        const target = found[piece.index];
        if (!target) continue;
        if (piece.id) target.id = piece.id;
        if (piece.function?.name) target.name = piece.function.name;
        target.arguments += piece.function?.arguments ?? '';
      }
    }
  }
  return found;
}

describe('text', () => {
  test('with log probabilities', () => {
    const content = [{ token: 'Hi', logprob: -0.1, bytes: null, top_logprobs: [] }];
    const { events, text, finish } = decoded(
      chunkOf({ content: 'Hi' }, { logprobs: { content } }),
      stop,
      '[DONE]',
    );
    expect({ text, finish }).toEqual({ text: 'Hi', finish: 'stop' });
    expect(first(events, 'text')).toMatchObject({ logprobs: content });
  });

  test('and a refusal are one message', () => {
    const { events, text, refusal, done } = decoded(
      chunkOf({ content: 'I ' }),
      chunkOf({ refusal: 'will not' }),
      stop,
      '[DONE]',
    );
    expect({ text, refusal, done }).toEqual({ text: 'I ', refusal: 'will not', done: [0] });
    expect(events.filter(({ type }) => type === 'item-started')).toHaveLength(1);
  });

  test('of the first choice becomes events; frames keep all choices', () => {
    const { text, frames } = decoded(
      chunkOf({ content: 'a' }),
      chunkOf({ content: 'b' }, { index: 1 }),
      stop,
      chunkOf({}, { finish: 'stop', index: 1 }),
      '[DONE]',
    );
    expect(text).toBe('a');
    expect(frames).toHaveLength(4);
  });

  test('frames are chunks on one line each, whatever the provider sends', () => {
    const first = chunkOf({ role: 'assistant', content: 'a\r\nb\u2028' });
    const pretty = JSON.stringify(first, null, 2).replaceAll('\n', '\ndata: ');
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    const { frames, text } = decoded(pretty, { type: 'ping' }, stop, { usage }, '[DONE]');
    expect(text).toBe('a\r\nb\u2028');
    expect(frames.map(({ raw }) => JSON.parse(raw))).toEqual([
      first,
      stop,
      { object: 'chat.completion.chunk', usage, choices: [] },
    ]);
    expect(frames.every(({ raw }) => !/[\r\n]/.test(raw))).toBe(true);
  });

  test('has no frames for another format', () => {
    const decoder = adapter.decoder(callOf({ wire: 'responses' }));
    expect(decoder.push(sse(chunkOf({ content: 'a' }))).frames).toBeUndefined();
  });

  test('with citations', () => {
    const citation = {
      type: 'url_citation',
      url_citation: { url: 'https://x.example', start_index: 0, end_index: 1 },
    };
    const { events } = decoded(chunkOf({ content: 'a', annotations: [citation] }), stop, '[DONE]');
    expect(first(events, 'annotation')).toMatchObject({
      annotation: { type: 'url_citation', url: 'https://x.example' },
    });
  });
});

describe('tool calls', () => {
  test('interleaved: each keeps its own arguments', () => {
    const {
      calls: found,
      done,
      frames,
    } = decoded(
      call({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      call({ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }),
      call({ index: 0, function: { arguments: '{"x"' } }),
      call({ index: 1, function: { arguments: '{"y"' } }),
      call({ index: 0, function: { arguments: ':1}' } }),
      call({ index: 1, function: { arguments: ':2}' } }),
      calls,
      '[DONE]',
    );
    expect(found).toEqual([
      { callId: 'a', name: 'f', arguments: '{"x":1}' },
      { callId: 'b', name: 'g', arguments: '{"y":2}' },
    ]);
    expect(done).toEqual([0, 1]);
    expect(frames.every(({ raw, json }) => raw === JSON.stringify(json))).toBe(true);
  });

  test('all at index 0 with new ids are several calls, in frames too', () => {
    const { calls: found, frames } = decoded(
      call({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }),
      call({ index: 0, id: 'b', type: 'function', function: { name: 'f', arguments: '' } }),
      call({ index: 0, id: '', function: { arguments: '{"x":2}', name: null } }),
      calls,
      '[DONE]',
    );
    const expected = [
      { name: 'f', arguments: '{"x":1}' },
      { name: 'f', arguments: '{"x":2}' },
    ];
    expect(found).toMatchObject(expected);
    expect(assembled(frames)).toMatchObject([
      { id: 'a', ...expected[0] },
      { id: 'b', ...expected[1] },
    ]);
  });

  test('whole calls at index 0 without ids are several calls with generated ids', () => {
    const whole = (x: number) => call({ index: 0, function: { name: 'f', arguments: `{"x":${x}}` } });
    const { calls: found, frames } = decoded(whole(1), whole(2), calls, '[DONE]');
    expect(found.map((each) => each.arguments)).toEqual(['{"x":1}', '{"x":2}']);
    expect(new Set(found.map((each) => each.callId)).size).toBe(2);
    expect(assembled(frames).map(({ id }) => id)).toEqual(found.map((each) => each.callId));
  });

  test('of different names at index 0 without ids are several calls, even without arguments', () => {
    const named = (name: string) => call({ index: 0, function: { name, arguments: '' } });
    const { calls: found, frames } = decoded(named('f'), named('g'), calls, '[DONE]');
    const expected = [
      { name: 'f', arguments: '{}' },
      { name: 'g', arguments: '{}' },
    ];
    expect(found).toMatchObject(expected);
    expect(assembled(frames)).toMatchObject(expected);
  });

  test('that end with “stop” get the finish reason tool_calls, which clients expect', () => {
    const piece = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const { frames } = decoded(call(piece), stop, '[DONE]');
    expect(frames.at(-1)?.raw).toBe(JSON.stringify(calls));
    const cut = decoded(call(piece), chunkOf({}, { finish: 'length' }), '[DONE]');
    expect(cut.frames.at(-1)?.raw).toBe(JSON.stringify(chunkOf({}, { finish: 'length' })));
    expect(decoded(chunkOf({ content: 'a' }), stop).frames.at(-1)?.raw).toBe(JSON.stringify(stop));
  });

  test('ids that change with each piece, or are repeated, are one call', () => {
    const { calls: found } = decoded(
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      call({ index: 0, id: 'other', function: { arguments: ':1' } }),
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '}' } }),
      calls,
      '[DONE]',
    );
    expect(found).toEqual([{ callId: 'a', name: 'f', arguments: '{"x":1}' }]);
  });

  test.each([0, undefined])('of other names with one id are several calls (index: %s)', (index) => {
    const whole = (name: string, x: number) =>
      call({ index, id: 'same', function: { name, arguments: `{"x":${x}}` } });
    const { calls: found, frames } = decoded(whole('f', 1), whole('g', 1), whole('g', 2), calls, '[DONE]');
    expect(found.map(({ name, arguments: args }) => name + args)).toEqual([
      'f{"x":1}',
      'g{"x":1}',
      'g{"x":2}',
    ]);
    expect(found[0]?.callId).toBe('same');
    expect(new Set(found.map((each) => each.callId)).size).toBe(3);
    expect(assembled(frames).map(({ id }) => id)).toEqual(found.map((each) => each.callId));
  });

  test('keep their id in frames, whatever later pieces have', () => {
    const { calls: found, frames } = decoded(
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      call({ index: 0, id: 'b', function: { arguments: ':1}' } }),
      calls,
      '[DONE]',
    );
    expect(found).toEqual([{ callId: 'a', name: 'f', arguments: '{"x":1}' }]);
    expect(assembled(frames)).toEqual([{ id: 'a', name: 'f', arguments: '{"x":1}' }]);
  });

  test('a late name is emitted with the id and the earlier arguments', () => {
    const { calls: found, frames } = decoded(
      call({ index: 0, id: 'a', type: 'function' }),
      call({ index: 0, function: { arguments: '{"x"' } }),
      call({ index: 0, function: { name: 'f', arguments: ':1}' } }),
      calls,
      '[DONE]',
    );
    expect(found).toEqual([{ callId: 'a', name: 'f', arguments: '{"x":1}' }]);
    expect(assembled(frames)).toEqual([{ id: 'a', name: 'f', arguments: '{"x":1}' }]);
    const pieces = frames.flatMap(({ json }) => (json.choices as Json[]).map(({ delta }) => delta as Json));
    expect(pieces.find(({ tool_calls }) => tool_calls)).toMatchObject({
      tool_calls: [{ id: 'a', index: 0 }],
    });
  });

  test('without an index are found by id, else the last one', () => {
    const { calls: found } = decoded(
      call({ id: 'a', function: { name: 'f', arguments: '{' } }),
      call({ function: { arguments: '}' } }),
      call({ id: 'b', function: { name: 'g', arguments: '{}' } }),
      calls,
      '[DONE]',
    );
    expect(found.map((each) => each.name + each.arguments)).toEqual(['f{}', 'g{}']);
  });

  test('without an index are found by id when their pieces interleave', () => {
    const { calls: found } = decoded(
      call({ id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      call({ id: 'b', function: { name: 'g', arguments: '{"y"' } }),
      call({ id: 'a', function: { arguments: ':1}' } }),
      call({ id: 'b', function: { arguments: ':2}' } }),
      calls,
      '[DONE]',
    );
    expect(found.map((each) => each.name + each.arguments)).toEqual(['f{"x":1}', 'g{"y":2}']);
  });

  test('whole in one chunk with the finish reason, arguments as an object', () => {
    const piece = { index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } };
    const {
      calls: found,
      finish,
      frames,
    } = decoded(chunkOf({ tool_calls: [piece] }, { finish: 'tool_calls' }), '[DONE]');
    expect(found).toEqual([{ callId: 'a', name: 'f', arguments: '{"x":1}' }]);
    expect(finish).toBe('stop');
    expect(assembled(frames)).toEqual([{ id: 'a', name: 'f', arguments: '{"x":1}' }]);
  });

  test.each([
    [
      'in the last chunk',
      [chunkOf({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f' } }] }, { finish: 'stop' })],
    ],
    ['before it', [call({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }), calls]],
  ])('without arguments get an empty object, ended %s', (_case, chunks) => {
    const { calls: found, frames } = decoded(...chunks, '[DONE]');
    expect(found).toEqual([{ callId: 'a', name: 'f', arguments: '{}' }]);
    expect(assembled(frames)).toEqual([{ id: 'a', name: 'f', arguments: '{}' }]);
  });

  test.each(['function_call', 'stop'])('the deprecated form with one function, ended by %s', (finish) => {
    const { calls: found, frames } = decoded(
      chunkOf({ function_call: { name: 'f', arguments: '' } }),
      chunkOf({ function_call: { arguments: '{"x":1}' } }),
      chunkOf({}, { finish }),
      '[DONE]',
    );
    expect(found).toMatchObject([{ name: 'f', arguments: '{"x":1}' }]);
    expect(frames.at(-1)?.json.choices).toMatchObject([{ finish_reason: 'function_call' }]);
  });

  const named = { name: 'f', arguments: '{"x":1}' };
  test.each<[string, Record<string, unknown>, object[], string]>([
    ['an empty one beside a text', { content: 'Hi', function_call: { name: '', arguments: '' } }, [], 'stop'],
    ['one without members beside a text', { content: 'Hi', function_call: {} }, [], 'stop'],
    [
      'one beside the form of today',
      { tool_calls: [{ index: 0, id: 'a', function: named }], function_call: named },
      [{ callId: 'a', ...named }],
      'tool_calls',
    ],
  ])('%s does not make it a deprecated call', (_what, delta, expected, finish) => {
    const { calls: found, frames } = decoded(chunkOf(delta), chunkOf({}, { finish }), '[DONE]');
    expect(found).toEqual(expected);
    expect(frames.at(-1)?.json.choices).toMatchObject([{ finish_reason: finish }]);
  });

  test('of custom tools are passed on unchanged, next to others', () => {
    const custom = { index: 0, id: 'c', type: 'custom', custom: { name: 'sql', input: '' } };
    const more = { index: 0, custom: { input: 'SELECT 1' } };
    const called = { index: 1, id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } };
    const chunks = [chunkOf({ role: 'assistant' }), call(custom), call(more), call(called), calls];
    const { calls: found, frames, finish } = decoded(...chunks, '[DONE]');
    expect(found).toEqual([{ callId: 'a', name: 'f', arguments: '{"x":1}' }]);
    expect(frames.map(({ raw }) => raw)).toEqual(chunks.map((chunk) => JSON.stringify(chunk)));
    expect(finish).toBe('stop');
  });

  test('without a name make the answer broken', () => {
    expect(() =>
      decoded(call({ index: 0, id: 'a', function: { arguments: '{}' } }), calls, '[DONE]'),
    ).toThrow(expect.objectContaining({ kind: 'broken' }));
  });
});

describe('thoughts', () => {
  const origin = (payload: unknown) => ({ provider: 'p', model: 'gpt-fake', payload });

  test.each(['reasoning_content', 'reasoning'])('in %s are a separate item, to be sent back', (field) => {
    const { events, thoughts, text } = decoded(
      chunkOf({ [field]: 'hm' }),
      chunkOf({ [field]: 'm.' }),
      chunkOf({ content: 'Yes' }),
      stop,
      '[DONE]',
    );
    expect({ thoughts, text }).toEqual({ thoughts: 'hmm.', text: 'Yes' });
    expect(first(events, 'item-done')).toEqual({
      type: 'item-done',
      index: 0,
      origin: origin({ [field]: 'hmm.' }),
    });
    const types = events.map(({ type }) => type);
    expect(types.indexOf('item-done')).toBeLessThan(types.indexOf('text'));
  });

  test('of OpenRouter: details are joined, with their signature', () => {
    const detail = (more: Json) => ({
      type: 'reasoning.text',
      index: 0,
      format: 'anthropic-claude-v1',
      ...more,
    });
    const { events, thoughts } = decoded(
      chunkOf({ reasoning: 'a', reasoning_details: [detail({ text: 'a' })] }),
      chunkOf({ reasoning: 'b', reasoning_details: [detail({ text: 'b' })] }),
      chunkOf({ reasoning_details: [detail({ signature: 's' })] }),
      chunkOf({ content: 'Yes' }),
      chunkOf({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 1 }] }),
      stop,
      '[DONE]',
    );
    expect(thoughts).toBe('ab');
    const origins = events.flatMap((event) =>
      event.type === 'item-done' && event.origin ? [event.origin] : [],
    );
    expect(origins).toEqual([
      origin({ reasoning_details: [detail({ text: 'ab', signature: 's' })] }),
      origin({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', index: 1 }] }),
    ]);
  });

  test('of Mistral are parts of the content', () => {
    const { thoughts, text, events, frames } = decoded(
      chunkOf({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      chunkOf({ content: [{ type: 'text', text: 'Yes' }] }),
      stop,
      '[DONE]',
    );
    expect({ thoughts, text }).toEqual({ thoughts: 'hm', text: 'Yes' });
    expect(first(events, 'item-done')).toMatchObject({ origin: origin({ thinking: 'hm' }) });
    const deltas = frames.map(({ raw }) => JSON.parse(raw).choices[0].delta);
    expect(deltas.slice(0, 2)).toEqual([
      { role: 'assistant', content: null, reasoning_content: 'hm' },
      { content: 'Yes' },
    ]);
  });

  test('never become visible text', () => {
    expect(decoded(chunkOf({ reasoning_content: 'secret' }), stop, '[DONE]').text).toBe('');
  });
});

describe('usage', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
  const none = { cachedInput: 0, cacheWrite: 0, reasoning: 0 };

  test.each([
    ['on the last chunk with a choice', chunkOf({}, { finish: 'stop', chunk: { usage } }), undefined],
    ['in a separate chunk', stop, { choices: [], usage }],
    ['in x_groq', chunkOf({}, { finish: 'stop', chunk: { x_groq: { usage } } }), undefined],
  ])('%s', (_case, last, own) => {
    const data = own ? [last, own] : [last];
    expect(decoded(chunkOf({ content: 'a' }), ...data, '[DONE]').tokens).toEqual({
      input: 10,
      output: 4,
      ...none,
    });
  });

  test.each([
    [
      'OpenAI',
      { prompt_tokens_details: { cached_tokens: 6 }, completion_tokens_details: { reasoning_tokens: 2 } },
      { cachedInput: 6, reasoning: 2 },
    ],
    ['DeepSeek', { prompt_cache_hit_tokens: 6, prompt_cache_miss_tokens: 4 }, { cachedInput: 6 }],
    [
      'xAI, which counts thoughts separately',
      { total_tokens: 19, completion_tokens_details: { reasoning_tokens: 5 } },
      { output: 9, reasoning: 5 },
    ],
    ['a total without the prompt', { prompt_tokens: 0, total_tokens: 19 }, { input: 0, output: 4 }],
    [
      'cached tokens apart from the prompt, but in the total',
      { total_tokens: 114, prompt_tokens_details: { cached_tokens: 100 } },
      { input: 110, cachedInput: 100 },
    ],
    [
      'sound and pictures',
      {
        prompt_tokens_details: { audio_tokens: 3 },
        completion_tokens_details: { audio_tokens: 2, image_tokens: 1 },
      },
      { media: { audioInput: 3, cachedAudio: 0, audioOutput: 2, imageOutput: 1 } },
    ],
    [
      'nonsense in details',
      { prompt_tokens_details: 'x', completion_tokens_details: { reasoning_tokens: -1 } },
      {},
    ],
    ['counts that are texts', { prompt_tokens: '10', completion_tokens: '4' }, {}],
    [
      'LiteLLM, with Anthropic’s names',
      {
        cache_read_input_tokens: 6,
        cache_creation_input_tokens: 3,
        prompt_tokens_details: { cached_tokens: 0 },
      },
      { cachedInput: 6, cacheWrite: 3 },
    ],
    ['Responses’ names', { input_tokens_details: { cached_tokens: 6 } }, { cachedInput: 6 }],
    [
      'an explicit zero',
      { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      { input: 0, output: 0 },
    ],
  ])('of %s', (_case, more, expected) => {
    const { tokens } = decoded(
      chunkOf({ content: 'a' }),
      stop,
      { choices: [], usage: { ...usage, ...more } },
      '[DONE]',
    );
    expect(tokens).toEqual({ input: 10, output: 4, ...none, ...expected });
  });

  test.each([{ prompt_tokens: -3 }, { completion_tokens: 1.5 }, { prompt_tokens: 'ten' }])(
    'of %j is not known',
    (more) => {
      const chunk = { choices: [], usage: { ...usage, ...more } };
      expect(decoded(chunkOf({ content: 'a' }), stop, chunk, '[DONE]').tokens).toBeUndefined();
    },
  );

  test('a snapshot in every chunk replaces the one before', () => {
    const at = (output: number) => ({
      chunk: { usage: { ...usage, completion_tokens: output, total_tokens: 10 + output } },
    });
    const { tokens } = decoded(
      chunkOf({ content: 'a' }, at(1)),
      chunkOf({ content: 'b' }, at(2)),
      stop,
      '[DONE]',
    );
    expect(tokens).toMatchObject({ output: 2 });
  });
});

describe('the end', () => {
  test.each([
    ['stop', 'stop'],
    ['tool_calls', 'stop'],
    ['eos', 'stop'],
    ['length', 'max_output_tokens'],
    ['model_length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('%s means %s', (reason, finish) => {
    expect(decoded(chunkOf({ content: 'a' }, { finish: reason })).finish).toBe(finish);
  });

  test.each([[[]], [['[DONE]']]])('without a finish reason is broken, followed by %j', (rest) => {
    const broken = expect.objectContaining({ kind: 'broken' });
    expect(() => decoded(chunkOf({ content: 'a' }), ...rest)).toThrow(broken);
  });

  test('may have white space around [DONE]', () => {
    expect(decoded(chunkOf({ content: 'a' }), stop, ' [DONE] ').finish).toBe('stop');
  });

  test('is emitted once, after every item is done', () => {
    const { events } = decoded(
      chunkOf({ content: 'a' }),
      stop,
      { choices: [], usage: {} },
      '[DONE]',
      '[DONE]',
      stop,
    );
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === 'finished')).toHaveLength(1);
    expect(types.at(-1)).toBe('finished');
  });

  test.each([
    [
      { error: { code: 502, message: 'x' }, choices: [{ index: 0, delta: {}, finish_reason: 'error' }] },
      'server',
    ],
    [{ error: { code: 'rate_limit_exceeded', message: 'x' } }, 'rate-limited'],
    [{ error: 'model runner stopped' }, 'server'],
    [{ object: 'error', message: 'x', type: 'internal', code: 50 }, 'server'],
    [{ error: { code: 'context_length_exceeded', message: 'x' } }, 'caller'],
    [chunkOf({}, { finish: 'error' }), 'server'],
  ])('as an error in a chunk: %j', (chunk, kind) => {
    expect(() => decoded(chunk)).toThrow(expect.objectContaining({ kind }));
  });

  test('as an event named error', () => {
    const decoder = adapter.decoder(callOf());
    const bytes = Buffer.from('event: error\ndata: {"message":"x","code":429}\n\n');
    expect(() => decoder.push(bytes)).toThrow(expect.objectContaining({ kind: 'rate-limited' }));
  });
});

test('the events are the same however the bytes are split', () => {
  const answer = {
    reasoning: 'Überlegen 🤔',
    text: 'Grüße, 世界 🌍 \r\n\u2028 "quoted"',
    calls: [
      { name: 'f', arguments: { city: 'Zürich' } },
      { name: 'g', arguments: '' },
    ],
  };
  const chunks = chatChunks(answer, { model: 'm', stream_options: { include_usage: true } });
  const bytes = sse(...chunks);
  const expected = decode(adapter.decoder(callOf()), bytes);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (places) => {
      const cuts = places.sort((a, b) => a - b);
      expect(decode(adapter.decoder(callOf()), bytes, cuts)).toEqual(expected);
    }),
    { numRuns: 150 },
  );
  const everywhere = Array.from({ length: bytes.length }, (_, at) => at);
  expect(decode(adapter.decoder(callOf()), bytes, everywhere)).toEqual(expected);
});
