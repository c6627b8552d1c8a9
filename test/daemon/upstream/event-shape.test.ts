import { type HeapProfiler, Session } from 'node:inspector/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createOutput } from '../../../src/daemon/features/calls/output-items.ts';
import { ChatStream } from '../../../src/daemon/features/inference/formats/chat-completions/stream.ts';
import { PassedBlocks } from '../../../src/daemon/features/inference/formats/messages/passed-blocks.ts';
import { PassedEvents } from '../../../src/daemon/features/inference/formats/responses/passed-events.ts';
import type { Batch, RawFrame } from '../../../src/daemon/features/upstreams/neutral.ts';
import { EventShape } from '../../../src/daemon/upstream/event-shape.ts';
import { MessagesDialect } from '../../../src/daemon/upstream/providers/anthropic/dialect.ts';
import { ChatDialect } from '../../../src/daemon/upstream/providers/openai-chat/decoder.ts';
import { ResponsesDialect } from '../../../src/daemon/upstream/providers/openai-responses/decoder.ts';
import { type Dialect, SseJsonDecoder } from '../../../src/daemon/upstream/sse-decoder.ts';

type Json = Record<string, unknown>;

interface Sent {
  name?: string;
  /** Whether its data has several lines. */
  isPretty?: boolean;
  json: Json;
}

interface Format {
  dialect: () => Dialect;
  /** Streams whose events mostly change nothing but the text of the one before. */
  runs: fc.Arbitrary<Sent[]>;
  start: Sent[];
  /** An event that adds a text and nothing else, and how many of its kind are read as a whole. */
  adding: (text: string, number: number) => Sent;
  whole: number;
  /** Renders frames for a client of the same format. */
  renderer: () => (batch: Batch) => string;
}

const text = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('Hello', ' world', ',', ':', 'content', 'delta', 'text', '好', '0', ' ', '\n'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('', '"', '\\', '\u0000', '{"a":1}', 'a text that is long enough', '\u2028'),
  },
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const rarely = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
const rare = <T>(value: T) => rarely(fc.constant(value));
const often = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, fc.constantFrom(usual, ...others));

function runsOf<Members extends { text: string }>(
  members: fc.Arbitrary<Members>,
  event: (members: Members) => Sent,
): fc.Arbitrary<Sent[]> {
  const step = fc.record({
    next: members,
    isPretty: rare(true),
    /** How many members besides the text have a new value. */
    changes: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.constantFrom(1, 2, 99)),
    from: fc.nat(12),
  });
  return fc.array(step, { maxLength: 24 }).map((steps) => {
    let current: Members | undefined;
    return steps.map(({ next, isPretty, changes, from }) => {
      const names = Object.keys(next);
      const changed = [...names, ...names].slice(from, from + changes);
      const values = Object.fromEntries(Object.entries(next).filter(([name]) => changed.includes(name)));
      current = current === undefined ? next : { ...current, ...values, text: next.text };
      return { ...event(current), ...(isPretty && { isPretty }) };
    });
  });
}

const chat: Format = {
  // The first one also starts the message.
  whole: 2,
  adding: (content) => ({
    json: {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { content } }],
    },
  }),
  dialect: () => new ChatDialect('p', 'm'),
  start: [
    { json: { id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta: { role: 'assistant' } }] } },
  ],
  runs: runsOf(
    fc.record({
      id: often('c', 'd'),
      created: often(1, 2),
      tier: rare('flex'),
      member: often('content', 'reasoning_content', 'reasoning', 'refusal', 'images'),
      also: rare('reasoning_content'),
      text,
      index: often(0, 1),
      finish: rare('stop'),
      usage: rare({ prompt_tokens: 1, completion_tokens: 2 }),
      logprobs: rarely(text),
      padding: fc.option(fc.constantFrom('a', 'bcd'), { nil: undefined, freq: 2 }),
      other: rarely(fc.constantFrom('one', 'two')),
      name: rare('error'),
      call: rare([{ index: 0, id: 'call', function: { name: 'f', arguments: '{}' } }]),
    }),
    ({
      id,
      created,
      tier,
      member,
      also,
      text,
      index,
      finish,
      usage,
      logprobs,
      padding,
      other,
      name,
      call,
    }) => ({
      ...(name && { name }),
      json: {
        id,
        object: 'chat.completion.chunk',
        created,
        model: 'm',
        service_tier: tier,
        choices: [
          {
            index,
            delta: { [member]: text, ...(also && { [also]: text }), tool_calls: call },
            logprobs: logprobs && { content: [{ token: logprobs }] },
            finish_reason: finish ?? null,
          },
          ...(other ? [{ index: 1, delta: { content: other }, finish_reason: null }] : []),
        ],
        usage: usage ?? null,
        obfuscation: padding,
      },
    }),
  ),
  renderer: () => {
    const output = createOutput(
      () => 'item',
      () => 'seal',
    );
    const options = { id: 'ours', created: 7, model: 'o', includeUsage: true, requestId: 'req' };
    const stream = new ChatStream({ ...options, output });
    return (batch) => `${stream.batch(batch)}${output.characters()}`;
  },
};

const messages: Format = {
  whole: 1,
  adding: (text) => ({
    name: 'content_block_delta',
    json: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  }),
  dialect: () => new MessagesDialect({ provider: 'p', model: 'm' }),
  start: [
    { name: 'message_start', json: { type: 'message_start', message: { usage: { input_tokens: 3 } } } },
    {
      name: 'content_block_start',
      json: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    },
  ],
  runs: runsOf(
    fc.record({
      index: often(0, 1),
      type: often('text_delta', 'thinking_delta', 'input_json_delta', 'citations_delta'),
      text,
      block: rarely(fc.constantFrom('text', 'thinking', 'tool_use', 'stop', 'end', 'ping', 'error')),
    }),
    ({ index, type, text, block }) => {
      if (block === 'stop')
        return { name: 'content_block_stop', json: { type: 'content_block_stop', index } };
      if (block === 'end')
        return { json: { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} } };
      if (block === 'ping' || block === 'error') return { name: block, json: { type: block } };
      if (block !== undefined)
        return {
          json: {
            type: 'content_block_start',
            index,
            content_block: { type: block, id: 't', name: 'f', text: block === 'text' ? text : undefined },
          },
        };
      const member = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json' }[
        type
      ];
      return {
        name: 'content_block_delta',
        json: { type: 'content_block_delta', index, delta: { type, [member ?? 'citation']: text } },
      };
    },
  ),
  renderer: () => {
    const options = { start: () => '', labelled: (json: Json) => json, completed: (json: Json) => json };
    const blocks = new PassedBlocks({ ...options, sealed: () => undefined });
    return ({ frames = [] }) => blocks.pass(frames);
  },
};

const responses: Format = {
  whole: 1,
  adding: (delta, number) => ({
    name: 'response.output_text.delta',
    json: {
      type: 'response.output_text.delta',
      sequence_number: number + 8,
      item_id: 'i',
      output_index: 0,
      content_index: 0,
      delta,
      logprobs: [],
      obfuscation: 'padding'.slice(number),
    },
  }),
  dialect: () => new ResponsesDialect('p', 'm'),
  start: [
    {
      json: {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'message', id: 'i', content: [] },
      },
    },
    {
      json: {
        type: 'response.content_part.added',
        item_id: 'i',
        output_index: 0,
        content_index: 0,
        part: {},
      },
    },
  ],
  runs: runsOf(
    fc.record({
      type: often(
        'output_text.delta',
        'reasoning_summary_text.delta',
        'refusal.delta',
        'output_text.done',
        'other',
      ),
      number: fc.nat(12_345),
      item: often('i', 'j'),
      index: often(0, 1),
      text,
      logprobs: fc.constantFrom<unknown[] | undefined>([], undefined, [{ token: 'a' }]),
      padding: fc.option(fc.constantFrom('a', 'bcd'), { nil: undefined, freq: 2 }),
      isNumberLast: rare(true),
    }),
    ({ type, number, item, index, text, logprobs, padding, isNumberLast }) => ({
      name: `response.${type}`,
      json: {
        type: `response.${type}`,
        ...(!isNumberLast && { sequence_number: number }),
        item_id: item,
        output_index: index,
        content_index: 0,
        delta: text,
        logprobs,
        obfuscation: padding,
        ...(isNumberLast && { sequence_number: number }),
      },
    }),
  ),
  renderer: () => {
    let sequence = 0;
    const output = createOutput(
      () => 'item',
      () => 'seal',
    );
    const options = { nextSequence: () => sequence++, sealed: false, strictEvents: false };
    const events = new PassedEvents({ ...options, output });
    return ({ events: neutral, frames = [] }) => {
      for (const event of neutral) output.apply(event);
      return events.order.accepts(frames) ? events.pass(frames) : 'disorder';
    };
  },
};

/** The same dialect, but no object is taken by its text alone. */
function wholly(dialect: Dialect): Dialect {
  return {
    take: (json, raw, batch) => dialect.take(json, raw, batch),
    finish: (batch, at) => dialect.finish(batch, at),
    get isComplete() {
      return dialect.isComplete;
    },
    get hasFinished() {
      return dialect.hasFinished ?? false;
    },
  };
}

const plain = ({ raw, json }: RawFrame): RawFrame => ({ raw, json: structuredClone(json) });

/** What the decoder makes of some reads, and what a client gets of them. */
function decoded(
  { dialect, renderer }: Format,
  reads: readonly string[],
  { hasFrames, isWhole }: { hasFrames: boolean; isWhole: boolean },
) {
  const decoder = new SseJsonDecoder('p', isWhole ? wholly(dialect()) : dialect(), { hasFrames });
  const render = renderer();
  const shown: unknown[] = [];
  let alike = 0;
  try {
    for (const read of reads) {
      const batch = decoder.push(Buffer.from(read));
      alike += batch.frames?.filter((frame) => frame.like).length ?? 0;
      const { events, frames } = batch;
      shown.push(structuredClone(events), frames?.map(plain));
      if (frames) shown.push(render(isWhole ? { events, frames: frames.map(plain) } : batch));
    }
  } catch (error) {
    shown.push(String(error));
  }
  shown.push(decoder.failure?.message, decoder.hasFinished, decoder.isComplete);
  return { shown: JSON.stringify(shown, undefined, 1).replaceAll(/call_[0-9a-f]{32}/g, 'call_id'), alike };
}

function sse({ name, isPretty, json }: Sent): string {
  return `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(json, undefined, isPretty ? 1 : 0).replaceAll('\n', '\ndata: ')}\n\n`;
}

describe.each([
  ['chat completions', chat],
  [
    'chat completions with two choices',
    { ...chat, dialect: () => new ChatDialect('p', 'm', { choices: 2 }) },
  ],
  ['Messages', messages],
  ['Responses', responses],
])('a stream of %s', (_name, format) => {
  const reads = fc.tuple(format.runs, fc.integer({ min: 1, max: 4 })).map(([events, perRead]) => {
    const sent = events.map(sse);
    const starts = sent.map((_event, at) => at).filter((at) => at % perRead === 0);
    return [...format.start.map(sse), ...starts.map((at) => sent.slice(at, at + perRead).join(''))];
  });

  test.each([true, false])('is decoded as if each event was read as a whole (frames: %s)', (hasFrames) => {
    fc.assert(
      fc.property(reads, (reads) => {
        const fast = decoded(format, reads, { hasFrames, isWhole: false });
        expect(fast.shown).toEqual(decoded(format, reads, { hasFrames, isWhole: true }).shown);
      }),
      { numRuns: 400 },
    );
  });

  test('of one text is read by its texts', () => {
    const texts = ['One', ' two', ' three', '\n', ' "four"', ' 五'];
    const events = texts.map((text, number) => sse(format.adding(text, number)));
    const reads = [...format.start.map(sse), ...events];
    expect(decoded(format, reads, { hasFrames: true, isWhole: false }).alike).toBe(
      texts.length - format.whole,
    );
  });
});

/** What a task allocates, in bytes, whether or not it is still in use. Sampled: right within a few percent for some megabytes. */
async function allocatedBy(task: () => void): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    const includesCollected = {
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    };
    await session.post('HeapProfiler.startSampling', { samplingInterval: 4_096, ...includesCollected });
    task();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    const sizeOf = ({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number =>
      children.reduce((sum, child) => sum + sizeOf(child), selfSize);
    return sizeOf(profile.head);
  } finally {
    session.disconnect();
  }
}

// Events that are read as a whole leave 1.7 KB each in chat completions; their bytes alone are two times a quarter of a kilobyte.
test.each([
  ['chat completions', chat, 1_200],
  ['Messages', messages, 1_150],
  ['Responses', responses, 1_800],
])('a token of %s leaves little garbage on its way to the client', async (_name, format, bytesMax) => {
  const [streams, tokens] = [100, 200];
  const events = Array.from({ length: tokens }, (_token, at) => sse(format.adding(` word ${at}`, at)));
  const all = Buffer.from([...format.start.map(sse), ...events].join(''));
  const reads = Array.from({ length: Math.ceil(all.length / 4_096) }, (_read, at) =>
    all.subarray(at * 4_096, (at + 1) * 4_096),
  );
  const relay = () => {
    for (let stream = 0; stream < streams; stream += 1) {
      const decoder = new SseJsonDecoder('p', format.dialect(), { hasFrames: true });
      const render = format.renderer();
      for (const read of reads) Buffer.from(render(decoder.push(read)));
    }
  };
  relay();
  expect((await allocatedBy(relay)) / (streams * tokens)).toBeLessThan(bytesMax);
});

const chunk = (
  content: string,
  { delta = {}, ...choice }: Json & { delta?: Json } = {},
  more: Json[] = [],
) => ({
  json: {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content, ...delta }, finish_reason: null, ...choice }, ...more],
  },
});
const words = ['One', ' two', ' three', ' four'];

test.each<[string, number, Sent[]]>([
  [
    'a finish reason with each chunk but the first',
    1,
    words.map((word, at) => chunk(word, { finish_reason: at > 0 ? 'stop' : null })),
  ],
  [
    'two choices in each chunk',
    2,
    words.map((word) => chunk(word, {}, [{ index: 1, delta: { content: 'Other' }, finish_reason: null }])),
  ],
  [
    'the whole text in each chunk',
    1,
    [
      chunk('', { delta: { refusal: 'No' } }),
      ...words.map((_word, at) => chunk(['One long enough', ...words.slice(0, at + 1)].join(''))),
    ],
  ],
  [
    'an annotation with each thought',
    1,
    [
      ...words.map((word) =>
        chunk('', {
          delta: {
            reasoning_content: word,
            annotations: [{ type: 'url_citation', url: 'https://a.example' }],
          },
        }),
      ),
      chunk('An answer'),
    ],
  ],
  [
    'an error that looks like a text',
    1,
    [...words.map((word) => chunk(word)), { ...chunk(' five'), name: 'error' }],
  ],
  [
    'the head of a chunk after its choices',
    1,
    words.map((word) => {
      const { id, ...rest } = chunk(word).json;
      return { json: { ...rest, id } };
    }),
  ],
])('chat completions with %s are passed on as they would be one by one', (_case, choices, events) => {
  const format = { ...chat, dialect: () => new ChatDialect('p', 'm', { choices }) };
  const reads = [...chat.start, ...events].map(sse);
  const fast = decoded(format, reads, { hasFrames: true, isWhole: false });
  expect(fast.shown).toBe(decoded(format, reads, { hasFrames: true, isWhole: true }).shown);
});

describe('the shape of an event', () => {
  const shapeOf = (raw: string, text: string) => EventShape.of(raw, text, undefined);

  test.each([
    ['a text that is written twice', '{"a":"x","delta":"x"}', 'x'],
    ['a text like the end of another', '{"a":"b","delta":","}', ','],
    ['an escape elsewhere', '{"a":"\\u0062","delta":"x"}', 'x'],
    ['a text that is escaped in another way', '{"delta":"\\u0078"}', 'x'],
  ])('is not known for %s', (_case, raw, text) => {
    expect(shapeOf(raw, text)).toBeUndefined();
  });

  test.each([
    ['{"n":"1","delta":"y","z":2}', 'y'],
    ['{"n":"1","delta":"\\"","z":2}', '"'],
    ['{"n":"1","delta":"\\\\","z":2}', '\\'],
    ['{"n":"1","delta":"\\\\\\"\\u0041","z":2}', '\\"A'],
    ['{"n":"1","delta":"","z":2}', ''],
    ['{"n":"1","delta":"y","z":3}', undefined],
    ['{"n":"1","delta":"y","q":1,"z":2}', undefined],
    ['{"n":"1","delta":"\\x","z":2}', undefined],
    ['{"n":"1","delta":"a\tb","z":2}', undefined],
    ['{"n":"1","delta":"y', undefined],
    ['{"n":"1","delta":null,"z":2}', undefined],
    ['', undefined],
  ])('gives the text of %j', (raw, text) => {
    expect(shapeOf('{"n":"1","delta":"x","z":2}', 'x')?.textIn(raw)).toBe(text);
  });

  test.each([
    ['{"sequence_number":10,"delta":"y","obfuscation":"bc"}', 'y'],
    ['{"sequence_number":0,"delta":"y","obfuscation":""}', 'y'],
    ['{"sequence_number":01,"delta":"y","obfuscation":"b"}', undefined],
    ['{"sequence_number":-1,"delta":"y","obfuscation":"b"}', undefined],
    ['{"sequence_number":1.5,"delta":"y","obfuscation":"b"}', undefined],
    ['{"sequence_number":1,"delta":"y","obfuscation":"\\x"}', undefined],
  ])('lets number and padding change: %j', (raw, text) => {
    const shape = shapeOf('{"sequence_number":9,"delta":"x","obfuscation":"a"}', 'x');
    expect(shape?.textIn(raw)).toBe(text);
  });
});
