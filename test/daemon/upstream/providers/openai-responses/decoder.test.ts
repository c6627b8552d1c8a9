import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Inference, InferenceEvent } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import type { UpstreamCall } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { responsesAdapter } from '../../../../../src/daemon/upstream/providers/openai-responses/adapter.ts';
import {
  responsesDocument,
  responsesEvents,
  sealedPrefix,
} from '../../../../support/fake-openai-responses.ts';
import type { FakeAnswer } from '../../../../support/fake-openai-script.ts';
import { callOf, decode, sse, summary } from '../../upstream-fixture.ts';

type Json = Record<string, unknown>;

const adapter = responsesAdapter({ name: 'p', baseUrl: 'https://p.example/v1' });
const _bodyFor = (call: UpstreamCall): Json => JSON.parse(adapter.request(call).body);
const responses = (more: Partial<Inference> = {}, route?: Parameters<typeof callOf>[1]) =>
  callOf({ wire: 'responses', ...more }, route);

function decoded(...data: (Json | string)[]) {
  const { events, frames } = decode(adapter.decoder(responses()), sse(...data));
  return { events, frames, ...summary(events) };
}

const asked = { model: 'gpt-fake', include: ['reasoning.encrypted_content'] };
const whole: FakeAnswer = {
  reasoning: 'Hm, let me see.',
  text: 'Two calls then.',
  calls: [
    { name: 'f', arguments: { city: 'Zürich' } },
    { name: 'g', arguments: '' },
  ],
  usage: { input: 9, output: 8, cached: 3, reasoning: 2 },
};
const argumentsDelta = 'response.function_call_arguments.delta';
const doneItems = (events: InferenceEvent[]) =>
  events.flatMap((event) => (event.type === 'item-done' ? [event] : []));

describe('a stream', () => {
  test('has thoughts, text, calls, usage and whole items', () => {
    const { events, frames, ...rest } = decoded(...responsesEvents(whole, asked));
    expect(rest).toMatchObject({
      thoughts: 'Hm, let me see.',
      text: 'Two calls then.',
      calls: [
        { callId: 'call_fake0', name: 'f', arguments: '{"city":"Zürich"}' },
        { callId: 'call_fake1', name: 'g', arguments: '{}' },
      ],
      done: [0, 1, 2, 3],
      tokens: { input: 9, cachedInput: 3, output: 8, reasoning: 2 },
      finish: 'stop',
    });
    const [reasoning, message] = doneItems(events);
    expect(reasoning?.origin).toMatchObject({
      provider: 'p',
      model: 'gpt-fake',
      payload: { id: 'rs_fake0', encrypted_content: expect.stringContaining(sealedPrefix) },
    });
    expect(message?.item).toMatchObject({ id: 'msg_fake0', content: [{ text: 'Two calls then.' }] });
    const types = responsesEvents(whole, asked).map(({ type }) => type);
    // The first two are snapshots, which callers get from us.
    types.splice(0, 2);
    // The call without arguments gets a delta, since some clients only read deltas.
    types.splice(types.lastIndexOf('response.function_call_arguments.done'), 0, argumentsDelta);
    expect(frames.map(({ json }) => json.type)).toEqual(types);
    const finished = frames.filter(({ json }) => json.type === 'response.output_item.done').at(-1);
    expect(finished?.raw).toContain('"arguments":"{}"');
  });

  describe('with a call of a custom tool', () => {
    const item = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'c1', name: 'patch', namespace: 'files' };
    const at = { item_id: 'ctc_1', output_index: 0 };
    const done = { ...item, input: '*** Begin' };
    const end = { type: 'response.completed', response: { status: 'completed', output: [done] } };
    const call = {
      type: 'item-started',
      index: 0,
      item: { kind: 'function_call', callId: 'c1', custom: true },
    };

    test('has its input piece by piece', () => {
      const { events, frames } = decoded(
        { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
        { type: 'response.custom_tool_call_input.delta', ...at, delta: '*** ' },
        { type: 'response.custom_tool_call_input.delta', ...at, delta: 'Begin' },
        { type: 'response.custom_tool_call_input.done', ...at, input: '*** Begin' },
        { type: 'response.output_item.done', output_index: 0, item: done },
        end,
      );
      expect(events.slice(0, 4)).toMatchObject([
        { ...call, item: { ...call.item, name: 'patch', namespace: 'files', id: 'ctc_1' } },
        { type: 'arguments', delta: '*** ' },
        { type: 'arguments', delta: 'Begin' },
        { type: 'item-done', item: done },
      ]);
      expect(frames).toHaveLength(6);
    });

    test('whose pieces are missing has its whole input, and the caller all events', () => {
      const { events, frames } = decoded(end);
      expect(events.slice(0, 2)).toMatchObject([call, { type: 'arguments', delta: '*** Begin' }]);
      expect(frames.map(({ json }) => json.type)).toEqual([
        'response.output_item.added',
        'response.custom_tool_call_input.delta',
        'response.custom_tool_call_input.done',
        'response.output_item.done',
        'response.completed',
      ]);
    });
  });

  test('snapshots alone are not the first event, so that a failure after them is still one of the call', () => {
    const decoder = adapter.decoder(responses());
    const [created, progress, added] = responsesEvents({ text: 'a' }, asked);
    expect(decoder.push(sse(created ?? {}, progress ?? {}))).toEqual({ events: [], frames: [] });
    const types = decoder.push(sse(added ?? {})).frames?.map(({ json }) => json.type);
    expect(types).toEqual(['response.output_item.added']);
  });

  test('has no frames for callers of another format', () => {
    const { events, frames } = decode(
      adapter.decoder(callOf()),
      sse(...responsesEvents({ text: 'a b' }, asked)),
    );
    expect(frames).toEqual([]);
    expect(summary(events).text).toBe('a b');
  });

  test('a refusal and an incomplete answer', () => {
    const answer: FakeAnswer = { refusal: 'No.', finish: 'content_filter' };
    expect(decoded(...responsesEvents(answer, asked))).toMatchObject({
      refusal: 'No.',
      finish: 'content_filter',
    });
    expect(decoded(...responsesEvents({ text: 'a', finish: 'length' }, asked)).finish).toBe(
      'max_output_tokens',
    );
  });

  test('raw thoughts with either name, but not together with a summary', () => {
    const delta = (type: string, more: Json) => ({ type, output_index: 0, item_id: 'rs', ...more });
    const end = { type: 'response.completed', response: { status: 'completed', output: [] } };
    for (const type of ['response.reasoning_text.delta', 'response.reasoning.delta']) {
      expect(decoded(delta(type, { content_index: 0, delta: 'hm' }), end).thoughts).toBe('hm');
    }
    const both = decoded(
      delta('response.reasoning_summary_text.delta', { summary_index: 0, delta: 'short' }),
      delta('response.reasoning_text.delta', { content_index: 0, delta: 'long' }),
      delta('response.reasoning_summary_text.delta', { summary_index: 1, delta: 'er' }),
      end,
    );
    expect(both.thoughts).toBe('shorter');
    expect(both.events.filter(({ type }) => type === 'reasoning')).toMatchObject([{ part: 0 }, { part: 1 }]);
  });

  test('reasoning parts are consecutive, whatever numbers they have', () => {
    const thoughts = [4_000_000_000, 7, 4_000_000_000, -1].map((summary_index) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      item_id: 'rs',
      summary_index,
      delta: 'hm',
    }));
    const { events } = decoded(...thoughts, {
      type: 'response.completed',
      response: { status: 'completed', output: [] },
    });
    const parts = events.flatMap((event) => (event.type === 'reasoning' ? [event.part] : []));
    expect(parts).toEqual([0, 1, 0, 2]);
  });

  test('an event whose name could inject events is not passed on', () => {
    const { frames } = decoded(
      { type: 'odd\n\ndata: {"type":"response.completed"}', output_index: 0 },
      { type: 'vendor:note', output_index: 0 },
      { output_index: 0, type: 17 },
      { output_index: 0 },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    );
    expect(frames.map(({ json }) => json.type)).toEqual(['vendor:note', 'response.completed']);
  });

  test('unknown items, annotations and events are kept', () => {
    const search = { id: 'ws_1', type: 'web_search_call', status: 'completed' };
    const annotation = { type: 'url_citation', url: 'https://x.example' };
    const { events, frames } = decoded(
      { type: 'response.output_item.added', output_index: 0, item: { ...search, status: 'in_progress' } },
      { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
      { type: 'keepalive' },
      { type: 'response.output_item.done', output_index: 0, item: search },
      { type: 'response.output_item.added', output_index: 1, item: { id: 'm', type: 'message' } },
      { type: 'response.output_text.annotation.added', output_index: 1, item_id: 'm', annotation },
      { type: 'response.completed', response: { status: 'completed' } },
    );
    expect(events).toMatchObject([
      { type: 'item-started', index: 0, item: { kind: 'opaque', json: { type: 'web_search_call' } } },
      { type: 'item-done', index: 0, item: search },
      { type: 'item-started', index: 1 },
      { type: 'annotation', index: 1, annotation },
      { type: 'item-done', index: 1 },
      { type: 'finished', reason: 'stop' },
    ]);
    expect(frames).toHaveLength(6);
  });

  test('of whole items only, or of the last event only, is completed', () => {
    const document = responsesDocument(whole, asked);
    const last = { type: 'response.completed', response: document };
    const items = document.output as Json[];
    const done = items.map((item, output_index) => ({
      type: 'response.output_item.done',
      output_index,
      item,
    }));
    const unnamed = items.map((item) => ({ type: 'response.output_item.done', item }));
    const expected = summary(decoded(...responsesEvents(whole, asked)).events);
    expect(summary(decoded(last).events)).toEqual(expected);
    expect(summary(decoded(...done, last).events)).toEqual(expected);
    expect(summary(decoded(...unnamed, last).events)).toEqual(expected);
  });

  test.each([
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'x', param: null }, 'rate-limited'],
    [{ type: 'error', error: { type: 'server_error', code: 'server_error', message: 'x' } }, 'server'],
    [{ error: { message: 'x', code: 'insufficient_quota' } }, 'billing'],
    [
      {
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'x' } },
      },
      'rate-limited',
    ],
    [
      {
        type: 'response.failed',
        response: { status: 'failed', error: { code: 'invalid_prompt', message: 'x' } },
      },
      'caller',
    ],
    [{ type: 'response.failed', response: { status: 'failed', error: null } }, 'server'],
    [{ type: 'response.cancelled', response: { status: 'cancelled' } }, 'broken'],
    [{ type: 'response.completed' }, 'broken'],
    [{ type: 'response.output_item.done', item: { type: 'function_call', arguments: '{}' } }, 'broken'],
  ])('fails by %j', (event, kind) => {
    expect(() => decoded(...responsesEvents({ text: 'a' }, asked).slice(0, 2), event)).toThrow(
      expect.objectContaining({ name: 'UpstreamFailure', kind }),
    );
  });

  test('that fails has the usage before the failure', () => {
    const usage = { input_tokens: 5, output_tokens: 2 };
    const failed = {
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' }, usage },
    };
    const decoder = adapter.decoder(responses());
    expect(decoder.push(sse(failed)).events).toMatchObject([
      { type: 'usage', tokens: { input: 5, output: 2 } },
    ]);
    expect(decoder.failure).toMatchObject({ kind: 'server' });
  });

  test('without its last event is broken, with or without [DONE]', () => {
    const events = responsesEvents({ text: 'a b' }, asked).slice(0, -1);
    expect(() => decoded(...events)).toThrow(expect.objectContaining({ kind: 'broken' }));
    expect(() => decoded(...events, '[DONE]')).toThrow(expect.objectContaining({ kind: 'broken' }));
  });

  test('the events are the same however the bytes are split', () => {
    const bytes = sse(...responsesEvents({ ...whole, text: 'Grüße, 世界 🌍 "x"' }, asked), '[DONE]');
    const expected = decode(adapter.decoder(responses()), bytes);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 10 }), (places) => {
        const cuts = places.sort((a, b) => a - b);
        expect(decode(adapter.decoder(responses()), bytes, cuts)).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });
});

test('a provider’s searches are counted, opened pages are not', () => {
  const document = responsesDocument({ text: 'Found.' }, { model: 'gpt-fake' });
  const search = (action?: string) => ({
    type: 'web_search_call',
    ...(action && { action: { type: action } }),
  });
  const ran = [
    search('search'),
    search('open_page'),
    search(),
    search('find_in_page'),
    { type: 'file_search_call' },
  ];
  document.output = [...ran, ...(document.output as Json[])];
  const toolUses = { webSearch: 2, fileSearch: 1 };
  expect(adapter.readAnswer?.(document, responses())?.tokens).toMatchObject({ toolUses });
  const [last] = decode(
    adapter.decoder(responses()),
    sse({ type: 'response.completed', response: document }),
  ).events.filter((event) => event.type === 'usage');
  expect(last?.tokens).toMatchObject({ toolUses });
});

describe('a whole answer', () => {
  const read = (json: Json) => adapter.readAnswer?.(json, responses({ stream: false }));

  test('has usage and outcome, and empty arguments are corrected', () => {
    const document = responsesDocument(whole, asked);
    expect(read(document)).toMatchObject({
      finish: 'stop',
      tokens: { input: 9, output: 8 },
    });
    expect((document.output as Json[]).at(-1)).toMatchObject({ arguments: '{}' });
    expect(read(responsesDocument({ text: 'a', finish: 'length' }, asked))).toMatchObject({
      finish: 'max_output_tokens',
    });
    // Usage without counts is not a count of 0.
    expect(read({ ...responsesDocument({ text: 'a' }, asked), usage: {} })).toMatchObject({
      tokens: undefined,
    });
  });

  test('that failed has its usage and the failure', () => {
    const document = responsesDocument(whole, asked);
    const failed = { ...document, status: 'failed', error: { code: 'server_error', message: 'x' } };
    expect(read(failed)).toMatchObject({
      tokens: { input: 9, output: 8 },
      failure: { kind: 'server', details: { providerCode: 'server_error' } },
    });
  });

  test('replaces the stream of a server that cannot stream', () => {
    const batch = adapter.documentAsBatch?.(responsesDocument(whole, asked), responses());
    const { text, calls, tokens, finish } = summary(batch?.events ?? []);
    expect({ text, tokens, finish }).toMatchObject({
      text: whole.text,
      tokens: { input: 9, output: 8 },
      finish: 'stop',
    });
    expect(calls.at(-1)).toMatchObject({ arguments: '{}' });
  });

  test.each([
    [{ status: 'in_progress', output: [] }, 'broken'],
    [{ status: 'completed' }, 'broken'],
    [{ status: 'completed', output: [{ type: 'function_call', arguments: '{}' }] }, 'broken'],
    [{}, 'broken'],
  ])('%j fails', (json, kind) => {
    expect(() => read(json)).toThrow(expect.objectContaining({ kind }));
  });
});

test.each([
  [0, 0],
  [5, 5],
  ['many', 2],
  [-1, 2],
  [Number.MAX_SAFE_INTEGER, 2],
])('billable searches are those that the answer reports (%s), if plausible', (reported, counted) => {
  const search = { type: 'web_search_call', status: 'completed', action: { type: 'search' } };
  const document = {
    status: 'completed',
    output: [search, search, { type: 'file_search_call', status: 'completed' }],
    usage: { input_tokens: 1, output_tokens: 1 },
    tool_usage: { web_search: { num_requests: reported } },
  };
  const adapter = responsesAdapter({ name: 'p', baseUrl: 'http://p.test/v1' });
  expect(adapter.readAnswer?.(document, responses())?.tokens).toMatchObject({
    toolUses: { webSearch: counted, fileSearch: 1 },
  });
});
