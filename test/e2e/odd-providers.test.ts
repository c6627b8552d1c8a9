import { gzipSync } from 'node:zlib';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { answers, bytesOf, eventsOf, rewritten, says, words } from '../support/chaos-behaviours.ts';
import { chaosForThisFile, formatPairs } from '../support/chaos-daemon.ts';
import type { Behaviour } from '../support/chaos-upstream.ts';
import { checkChatStream } from '../support/chat-check.ts';
import type { FakeAnswer } from '../support/fake-openai-script.ts';
import { bodyOf, completeCall, type OpenAiWire, parseStream, pathOf } from '../support/model-client.ts';
import { postForChunks } from '../support/raw-chunks.ts';
import { chunk, chunkedHead, lastChunk } from '../support/raw-server.ts';
import { checkResponse, checkResponsesStream } from '../support/responses-check.ts';

/** Providers that answer well but not as the format has it: what their clients see is held to the format all the same. */
const on = await chaosForThisFile();

async function chunksOf(
  wire: OpenAiWire,
  model: string,
  more: Record<string, unknown> = {},
): Promise<string[]> {
  const { url, key } = on.daemon;
  const answer = await postForChunks(url + pathOf[wire], {
    headers: { authorization: `Bearer ${key}` },
    json: { ...bodyOf({ wire, model, stream: true }), ...more },
  });
  expect(answer.status, answer.chunks.join('')).toBe(200);
  return answer.chunks;
}

const tools = {
  responses: [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }],
  chat: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }],
};

/** An ordinary answer whose text was changed, be it a stream or a document. */
function changed(change: (text: string) => string, answer: FakeAnswer = { text: words }): Behaviour {
  return (call) => {
    if (call.stream) return rewritten(change, answer)(call);
    const [, body = ''] = bytesOf(call, answer).toString().split('\r\n\r\n');
    says(200, { body: change(body) })(call);
  };
}

/** The blocks of a stream that are events of other types. */
const without = (types: RegExp) => (text: string) =>
  text
    .split(/(?<=\n\n)/)
    .filter((block) => !types.test(/^event: (.*)$/m.exec(block)?.[1] ?? ''))
    .join('');

describe('a Responses stream with missing events', () => {
  const full: FakeAnswer = {
    reasoning: 'Hm, let me see.',
    text: words,
    calls: [
      { name: 'weather', arguments: { city: 'Oslo' } },
      { name: 'weather', arguments: '' },
    ],
  };

  test.each([
    ['no end of anything', /^response\.(?!completed).*\.done$/],
    ['no end of items', /^response\.output_item\.done$/],
    ['no end of parts', /^response\.(?!output_item).*\.done$/],
    ['nothing but whole items', /^response\.(?!output_item\.done|created|in_progress|completed)/],
    ['nothing but the beginning of items', /^response\.(?!output_item\.added|created|in_progress|completed)/],
    ['nothing but the last event', /^response\.(?!completed)/],
  ])('%s: the client receives them all', async (_what, types) => {
    const more = { tools: tools.responses, store: true };
    const whole = await chunksOf('responses', on.chaos.addModel('responses', answers(full)), more);
    const expected = checkResponsesStream(whole).output.map(({ id: _id, ...item }) => item);
    expect(expected.map(({ type }) => type)).toEqual([
      'reasoning',
      'message',
      'function_call',
      'function_call',
    ]);
    const model = on.chaos.addModel('responses', rewritten(without(types), full));
    const { output } = checkResponsesStream(await chunksOf('responses', model, more));
    expect(output.map(({ id: _id, ...item }) => item)).toEqual(expected);
  });
});

describe.each(formatPairs)('tool calls without ids: $name', ({ wire, upstream }) => {
  const calls = [
    { name: 'weather', arguments: { city: 'Oslo' } },
    { name: 'weather', arguments: { city: 'Rome' } },
  ];
  const same = (text: string) => text.replace(/call_fake\d/g, 'call_0');
  const none = (text: string) => text.replace(/"(id|call_id)":"call_fake\d",/g, '');
  const long = (text: string) => text.replace(/call_fake/g, `call_${'x'.repeat(80)}`);
  const ways = [
    ['all the same', same],
    ['none', none],
    ['too long', long],
  ] as const;

  test.each(ways)('%s', async (_what, change) => {
    const model = on.chaos.addModel(upstream, changed(change, { calls, callsInterleave: false }));
    const chunks = await chunksOf(wire, model, { tools: tools[wire] });
    const reported =
      wire === 'chat'
        ? checkChatStream(chunks, { includesUsage: true }).calls
        : checkResponsesStream(chunks).output.map((item) => {
            if (item.type !== 'function_call') throw new Error('only calls were made');
            return { id: item.call_id, arguments: item.arguments };
          });
    expect(reported.map((call) => JSON.parse(call.arguments).city)).toEqual(['Oslo', 'Rome']);
    expect(new Set(reported.map(({ id }) => id)).size).toBe(2);
  });

  test.each(ways)('%s, in a document', async (_what, change) => {
    const { text } = await completeCall(on.daemon, {
      wire,
      model: on.chaos.addModel(upstream, changed(change, { calls })),
      stream: false,
      more: { tools: tools[wire] },
    });
    const answer = JSON.parse(text);
    const ids: string[] =
      wire === 'chat'
        ? answer.choices[0].message.tool_calls.map(({ id }: { id: string }) => id)
        : checkResponse(answer).output.map((item) => ('call_id' in item ? item.call_id : ''));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^call_\w{1,59}$/);
  });
});

describe('a chat stream', () => {
  /** Each chunk changed, `[DONE]` not. */
  const eachChunk =
    (change: (chunk: Record<string, never>, at: number) => unknown) =>
    (text: string): string => {
      let at = -1;
      return text.replace(/^data: (\{.*)$/gm, (_line, json: string) => {
        at += 1;
        return `data: ${JSON.stringify(change(JSON.parse(json), at))}`;
      });
    };
  const countsAsItGoes = eachChunk((chunk, at) => ({
    ...chunk,
    usage: { prompt_tokens: 500, completion_tokens: at, total_tokens: 500 + at },
  }));

  test.each([true, false])(
    'with usage in every chunk reports the last one, once (requested: %s)',
    async (includesUsage) => {
      const model = on.chaos.addModel('chat', rewritten(countsAsItGoes, { text: words, usage: 'none' }));
      const more = includesUsage ? {} : { stream_options: undefined };
      const { usage, content } = checkChatStream(await chunksOf('chat', model, more), { includesUsage });
      expect(content).toBe(words);
      const row = await on.waitForUsage(model);
      expect(row).toMatchObject({ isReported: 1, input: 500 });
      if (includesUsage) expect(usage?.completion_tokens).toBe(row.output);
    },
  );

  test.each<[string, (chunk: Record<string, never>) => unknown]>([
    [
      'null where nothing changes',
      (chunk) => changeChoice(chunk, (choice) => ({ ...choice, delta: orNull(choice.delta) })),
    ],
    [
      'nothing beside them',
      (chunk) => ({ ...chunk, choices: [...((chunk.choices as unknown[] | undefined) ?? []), null] }),
    ],
    ['no index', (chunk) => changeChoice(chunk, ({ index: _index, ...choice }) => choice)],
    [
      'an empty role',
      (chunk) =>
        changeChoice(chunk, (choice) => ({
          ...choice,
          delta: choice.delta.role ? choice.delta : { role: '', ...choice.delta },
        })),
    ],
  ])('whose choices have %s satisfies strict clients', async (_what, change) => {
    const model = on.chaos.addModel('chat', rewritten(eachChunk(change)));
    const { content, finish } = checkChatStream(await chunksOf('chat', model), { includesUsage: true });
    expect({ content, finish }).toEqual({ content: words, finish: 'stop' });
  });
});

type Choice = { index: number; delta: Record<string, unknown> };

function changeChoice(chunk: { choices?: Choice[] }, change: (choice: Choice) => unknown): unknown {
  return { ...chunk, choices: (chunk.choices ?? []).map(change) };
}

function orNull(delta: object): object | null {
  return Object.keys(delta).length > 0 ? delta : null;
}

describe.each(formatPairs)('unusual HTTP: $name', ({ wire, upstream }) => {
  const stream = (call: Parameters<Behaviour>[0]) => eventsOf(call).join('');
  const chunked = (head: string, tail: string): Behaviour => {
    return (call) => {
      call.isAnswered = true;
      call.socket.write(head + chunk(stream(call)) + tail);
    };
  };
  const odd: [string, Behaviour][] = [
    [
      'early hints before it',
      chunked(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${chunkedHead()}`, lastChunk),
    ],
    ['trailers after it', chunked(chunkedHead(), '0\r\nx-checksum: 7\r\nserver-timing: a;dur=1\r\n\r\n')],
    ['a content type in capitals', chunked(chunkedHead('Text/Event-Stream'), lastChunk)],
    [
      'the close of the connection as its end',
      (call) => {
        call.isAnswered = true;
        call.socket.end(`HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${stream(call)}`);
      },
    ],
    [
      'CR as line ends on a connection that stays open',
      (call) => {
        call.isAnswered = true;
        call.socket.write(chunkedHead() + chunk(stream(call).replaceAll('\n', '\r')));
      },
    ],
  ];

  test.each(odd)('%s', async (_what, behaviour) => {
    const answer = await completeCall(on.daemon, {
      wire,
      model: on.chaos.addModel(upstream, behaviour),
      stream: true,
    });
    expect(parseStream(answer.text)).toMatchObject({ text: words, errors: [], isDoneLast: true });
  });

  test.each(['application/json', 'text/plain'])('a stream under the type %s', async (type) => {
    for (const asked of [true, false]) {
      const model = on.chaos.addModel(upstream, (call) =>
        chunked(chunkedHead(type), lastChunk)({ ...call, stream: true }),
      );
      const answer = await completeCall(on.daemon, { wire, model, stream: asked });
      expect(answer.status).toBe(200);
      if (asked)
        expect(parseStream(answer.text)).toMatchObject({ text: words, errors: [], isDoneLast: true });
      else expect(answer.text).toContain(words);
    }
  });

  test('a document behind a byte order mark', async () => {
    const model = on.chaos.addModel(
      upstream,
      changed((text) => `\uFEFF${text}`),
    );
    const answer = await completeCall(on.daemon, { wire, model, stream: false });
    expect(JSON.parse(answer.text)).toMatchObject({ service: { provider: upstream } });
    expect(answer.text).toContain(words);
  });

  test('a compressed error', async () => {
    const headers = ['content-type: application/json', 'content-encoding: gzip'];
    const model = on.chaos.addModel(upstream, says(400, { headers, body: gzipSync('{"error":{}}') }));
    const answer = await completeCall(on.daemon, { wire, model, stream: true });
    expect(answer.status).toBe(400);
    expect((await on.waitForUsage(model)).attempts).toMatchObject([
      { status: 400, errorCode: 'invalid_request' },
    ]);
  });
});

test.each(formatPairs)('characters split between chunks are joined: $name', async ({ wire, upstream }) => {
  const pieces = ['a \ud83c', '\udf0d b'];
  const text = pieces.join('');
  const model = on.chaos.addModel(upstream, answers({ pieces, text }));
  const streamed = await completeCall(on.daemon, { wire, model, stream: true });
  expect(parseStream(streamed.text)).toMatchObject({ text: 'a 🌍 b', errors: [], isDoneLast: true });
  const whole = await completeCall(on.daemon, { wire, model, stream: false });
  expect(whole.text).toContain('"a 🌍 b"');
  if (wire === 'responses') expect(streamed.text).toContain('"text":"a 🌍 b"');
});

test('the openai package reads a stream with missing events', async () => {
  const client = new OpenAI({ baseURL: `${on.daemon.url}/v1`, apiKey: on.daemon.key, maxRetries: 0 });
  const model = on.chaos.addModel('responses', rewritten(without(/^response\.(?!completed)/)));
  const helper = client.responses.stream({ model, input: 'Say something.' });
  let text = '';
  helper.on('response.output_text.delta', ({ delta }) => {
    text += delta;
  });
  expect((await helper.finalResponse()).output_text).toBe(words);
  expect(text).toBe(words);
});
