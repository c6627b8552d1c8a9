import { describe, expect, test } from 'vitest';
import type { Wire } from '../../src/daemon/features/upstreams/neutral.ts';
import { eventsOf, rewritten, words } from '../support/chaos-behaviours.ts';
import { allFormatPairs, chaosForThisFile } from '../support/chaos-daemon.ts';
import { checkChatStream } from '../support/chat-check.ts';
import { checkMessageStream } from '../support/messages-check.ts';
import { completeCall } from '../support/model-client.ts';
import { checkResponsesStream } from '../support/responses-check.ts';

const on = await chaosForThisFile();

// biome-ignore lint/suspicious/noExplicitAny: events of all formats, which are changed at any depth.
type Event = any;
type Change = (events: Event[]) => (Event | string)[];

const isDelta = ({ type, choices }: Event) =>
  type === 'response.output_text.delta' ||
  type === 'content_block_delta' ||
  Boolean(choices?.[0]?.delta.content);

const each =
  (change: (event: Event) => Event | Event[] | string): Change =>
  (events) =>
    events.flatMap((event) => change(event));

const without = (types: RegExp) => each((event) => (types.test(event.type) ? [] : event));
const twice = (types: RegExp) =>
  each((event) => (types.test(event.type) ? [event, structuredClone(event)] : event));

/** Numbers items, blocks and choices otherwise. */
const numbered = (number: (index: number) => unknown) =>
  each((event) => {
    if ('output_index' in event) event.output_index = number(event.output_index);
    if (typeof event.index === 'number') event.index = number(event.index);
    for (const choice of event.choices ?? []) choice.index = number(choice.index);
    return event;
  });

/** Adds events after the first delta. */
const inserted =
  (...more: Event[]): Change =>
  (events) => {
    const at = events.findIndex(isDelta) + 1;
    return [...events.slice(0, at), ...more, ...events.slice(at)];
  };

/** Repeats members behind the others, so that they replace the first ones. */
const repeated = (members: Record<string, unknown>) =>
  each((event) => {
    const known = Object.entries(members).filter(([name]) => name in event);
    if (!isDelta(event) || known.length === 0) return event;
    return `${JSON.stringify(event).slice(0, -1)},${JSON.stringify(Object.fromEntries(known)).slice(1)}`;
  });

/** Adds a delta whose content has another type. */
const withContent =
  (content: unknown): Change =>
  (events) => {
    const odd = structuredClone(events.find(isDelta));
    if ('output_index' in odd) odd.delta = content;
    else if (odd.type === 'content_block_delta') odd.delta.text = content;
    else odd.choices[0].delta.content = content;
    return inserted(odd)(events);
  };

const ofItems = /output_item\.added|content_part\.added|content_block_start/;
const endsOfItems = /output_item\.done|content_part\.done|output_text\.done|content_block_stop/;

/** The whole answer comes in each of these, so that clients must be able to assemble it. */
const disorders: Record<string, Change> = {
  'numbers from 7': numbered((index) => index + 7),
  'huge numbers': numbered(() => 1e9),
  'negative numbers': numbered((index) => -1 - index),
  'fractions as numbers': numbered((index) => index + 0.5),
  'no numbers': numbered(() => undefined),
  'null as numbers': numbered(() => null),
  'texts as numbers': numbered(() => '__proto__'),
  'deltas that are booleans': withContent(true),
  'deltas that are objects': withContent({ a: 1 }),
  'deltas that are null': withContent(null),
  'deltas that are missing': withContent(undefined),
  'items that do not start': without(ofItems),
  'parts that do not start': without(/content_part\.added/),
  'items that do not end': without(endsOfItems),
  'items that start twice': twice(/output_item\.added|content_block_start/),
  'items that end twice': twice(/output_item\.done|content_block_stop/),
  'parts that start twice': twice(/content_part\.added/),
  'two starts': twice(/message_start|response\.created/),
  'no start': without(/message_start|response\.created/),
  'deltas only and an end': (events) =>
    events.filter((event) => isDelta(event) || events.indexOf(event) >= events.length - 2),
  'ids that are numbers': each((event) => {
    if ('item_id' in event) event.item_id = 7;
    if (event.item) event.item.id = 7;
    return event;
  }),
  'one id for all': each((event) => {
    if ('item_id' in event) event.item_id = 'same';
    if (event.item) event.item.id = 'same';
    return event;
  }),
  'items that are null': each((event) => {
    if (/added/.test(event.type) && event.item) event.item = null;
    if (event.content_block) event.content_block = null;
    return event;
  }),
  'items without a type in its end': each((event) => {
    event.response?.output.push({}, { type: 7 }, { type: 'message', content: 7 });
    return event;
  }),
  'no items in its end': each((event) => {
    if (event.type === 'response.completed') event.response.output = [];
    return event;
  }),
  'an end of another name': each((event) =>
    event.type === 'response.completed' ? { ...event, type: 'response.cancelled' } : event,
  ),
  'no usage': each(({ usage, response, message, ...event }) => ({
    ...event,
    ...(event.choices && usage !== undefined && { usage }),
    ...(response && { response: { ...response, usage: undefined } }),
    ...(message && { message: { ...message, usage: undefined } }),
  })),
  'the events of a gateway': inserted(
    { type: 'service:route', provider: 'other', sequence_number: 1 },
    { type: 'service:cost', cost: '0', sequence_number: 2 },
  ),
  'numbers that are repeated': repeated({ sequence_number: 99_999, created: 7 }),
  'ids that are repeated': repeated({ item_id: 'theirs', id: 'theirs' }),
  'positions that are repeated': repeated({ output_index: 0 }),
};

/** Parses the stream of a format strictly, and returns its text. */
function textOf(wire: Wire, stream: string): string {
  switch (wire) {
    case 'responses': {
      const { status, output } = checkResponsesStream([stream]);
      expect(status).toBe('completed');
      return output
        .flatMap((item) => (item.type === 'message' ? item.content : []))
        .map(shownText)
        .join('');
    }
    case 'chat':
      return checkChatStream([stream], { includesUsage: true }).content;
    case 'messages':
      return checkMessageStream([stream]).text;
  }
}

function shownText(part: { text: string } | { refusal: string }): string {
  return 'text' in part ? part.text : part.refusal;
}

/** The counts that the Messages format always has. */
function withCacheCounts(event: Event): Event {
  const counts = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  for (const of of [event, event.message])
    if (of && /^message/.test(of.type) && of.usage) of.usage = { ...of.usage, ...counts };
  return event;
}

function disordered(wire: Wire, change: Change) {
  return rewritten(() => {
    const texts = eventsOf({ wire, body: { stream_options: { include_usage: true } } });
    const data = texts.map((text) => text.slice(text.indexOf('data: ') + 6).trim());
    const isDone = data.at(-1) === '[DONE]';
    const events = (isDone ? data.slice(0, -1) : data).map((each) => withCacheCounts(JSON.parse(each)));
    const changed = change(events).map((event) => {
      const raw = typeof event === 'string' ? event : JSON.stringify(event);
      return `event: ${JSON.parse(raw).type ?? 'message'}\ndata: ${raw}\n\n`;
    });
    return changed.join('') + (isDone ? 'data: [DONE]\n\n' : '');
  });
}

describe.each(allFormatPairs)('a stream with disorder: $name', ({ wire, upstream }) => {
  test.each(Object.entries(disorders))('%s', async (_name, change) => {
    const model = on.chaos.addModel(upstream, disordered(upstream, change));
    const answer = await completeCall(on.daemon, { wire, model, stream: true });
    expect(answer.status).toBe(200);
    expect(textOf(wire, answer.text)).toBe(words);
    const { input, output, charged } = await on.waitForUsage(model);
    expect(input).toBeLessThan(1_000);
    expect(output).toBeLessThan(1_000);
    expect(Number(charged)).toBeGreaterThanOrEqual(0);
  });
});

test('a provider cannot name events of its own in the lines of ours', async () => {
  const injected = each((event) =>
    isDelta(event)
      ? `${JSON.stringify({ ...event, type: 'x\nevent: evil\ndata: {}\n\nevent: y.delta' }).slice(0, -1)},"type":${JSON.stringify(event.type)}}`
      : event,
  );
  const model = on.chaos.addModel('responses', disordered('responses', injected));
  const answer = await completeCall(on.daemon, { wire: 'responses', model, stream: true });
  expect(textOf('responses', answer.text)).toBe(words);
});

test('an error without content ends the stream once', async () => {
  const model = on.chaos.addModel('messages', disordered('messages', inserted({ type: 'error' })));
  const { text } = await completeCall(on.daemon, { wire: 'messages', model, stream: true });
  expect(text.match(/^event: (error|message_stop)$/gm)).toEqual(['event: error']);
});
