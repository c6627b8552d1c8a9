import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Wire } from '../../src/daemon/features/upstreams/neutral.ts';
import {
  answers,
  bytesOf,
  cutAfter,
  cutAt,
  drips,
  endlessEvent,
  gzipBomb,
  hangs,
  hangsAfterHeaders,
  insertsAfter,
  neverEnds,
  onlyComments,
  rewritten,
  says,
  splitInto,
  stallsAfter,
  webPage,
  words,
} from '../support/chaos-behaviours.ts';
import {
  type ChaosDaemon,
  formatPairs,
  mainFormatPairs,
  nanoUsdPerToken,
  startChaosDaemon,
} from '../support/chaos-daemon.ts';
import type { Behaviour } from '../support/chaos-upstream.ts';
import { completeCall, type ModelAnswer, parseStream } from '../support/model-client.ts';

/** What no answer may ever hold: texts that only a provider's raw bytes have. */
const rawMark = 'RAW-BYTES-OF-A-PROVIDER';

let patient: ChaosDaemon;
/** Gives up on providers that do not start, but not on those that a busy machine delays by seconds. */
let quick: ChaosDaemon;
/** Gives up on providers that stop in the middle. */
let stalling: ChaosDaemon;

beforeAll(async () => {
  // A stream that starts without its answer does not say which provider answers.
  patient = await startChaosDaemon('timeouts: {silent_start_ms: 0}');
  quick = await startChaosDaemon(
    'timeouts: {silent_start_ms: 0, headers_ms: 10000, first_event_ms: 10000, idle_ms: 10000, output_ms: 10000}',
  );
  stalling = await startChaosDaemon('timeouts: {idle_ms: 250}');
});

afterAll(async () => {
  for (const on of [patient, quick, stalling]) {
    const { faults, usage } = await on.waitUntilIdle();
    expect(faults).toEqual([]);
    expect(new Set(usage.map(({ requestId }) => requestId)).size).toBe(usage.length);
    await on.close();
  }
});

interface Asking {
  wire: Wire;
  model: string;
  stream?: boolean;
  more?: Record<string, unknown>;
}

async function ask(on: ChaosDaemon, { stream = true, ...asked }: Asking): Promise<ModelAnswer> {
  const answer = await completeCall(on.daemon, { stream, ...asked });
  expect(answer.text).not.toContain(rawMark);
  return answer;
}

function errorOf(answer: ModelAnswer): Record<string, unknown> {
  return (JSON.parse(answer.text) as { error: Record<string, unknown> }).error;
}

/** The code of a provider's failure, or its type in the Messages format, which has no codes. */
const failureIn = (wire: Wire) => (wire === 'messages' ? 'api_error' : 'upstream_failed');

/** One way to end a stream, and everything else that holds of every stream. */
function expectEnd(answer: ModelAnswer, wire: Wire, end: 'whole' | 'failed') {
  expect(answer.status).toBe(200);
  const reported = parseStream(answer.text);
  // In the Messages format an error is the last event.
  const isDone = wire !== 'messages' || end === 'whole';
  expect({ done: reported.doneMarks, last: reported.isDoneLast }).toEqual({
    done: isDone ? 1 : 0,
    last: isDone,
  });
  if (end === 'whole') expect(reported.errors).toEqual([]);
  else expect(reported.errors).toHaveLength(1);
  if (wire === 'responses') expect(reported.ends).toEqual([end === 'whole' ? 'completed' : 'failed']);
  else expect(reported.ends).toEqual(end === 'whole' ? ['finished'] : []);
  return reported;
}

const mutters = (text: string) => says(200, { headers: ['content-type: text/event-stream'], body: text });

interface BeforeCase {
  name: string;
  behaviour: () => Behaviour;
  isSlow?: boolean;
  code: string;
  /** What the Messages format reports as such. */
  isOverload?: boolean;
  /** Only where a stream was asked for. */
  streamOnly?: boolean;
  /** Too much to read for every pair of formats: answers are translated after their bytes are counted. */
  isLarge?: boolean;
}

const beforeTheStart: BeforeCase[] = [
  { name: 'hangs before its headers', behaviour: hangs, isSlow: true, code: 'timeout' },
  { name: 'hangs after its headers', behaviour: hangsAfterHeaders, isSlow: true, code: 'timeout' },
  { name: 'sends comments alone', behaviour: onlyComments, isSlow: true, code: 'timeout', streamOnly: true },
  { name: 'resets at once', behaviour: () => cutAt(0, 'reset'), code: 'network' },
  { name: 'closes at once', behaviour: () => cutAt(0, 'close'), code: 'network' },
  { name: 'resets within its headers', behaviour: () => cutAt(20, 'reset'), code: 'network' },
  { name: 'says 500', behaviour: () => says(500, { body: rawMark }), code: 'server_error' },
  { name: 'says 503', behaviour: () => says(503, { body: rawMark }), code: 'server_error', isOverload: true },
  { name: 'says 529', behaviour: () => says(529, { body: rawMark }), code: 'server_error', isOverload: true },
  {
    name: 'sends elsewhere',
    behaviour: () => says(302, { headers: ['location: http://127.0.0.1:1/'] }),
    code: 'server_error',
  },
  { name: 'shows a web page', behaviour: webPage, code: 'server_error' },
  { name: 'sends a gzip bomb', behaviour: gzipBomb, code: 'broken_answer' },
  {
    name: 'sends an unsolicited 100 Continue',
    behaviour: () => (call) => call.socket.write(`HTTP/1.1 100 Continue\r\n\r\n${bytesOf(call)}`),
    code: 'broken_answer',
  },
  {
    name: 'speaks no HTTP',
    behaviour: () => (call) => call.socket.write(`SSH-2.0-${rawMark}\r\n`),
    code: 'broken_answer',
  },
  {
    name: 'sends JSON that is none',
    behaviour: () => mutters(`data: {${rawMark}\n\n`),
    code: 'broken_answer',
  },
  { name: 'sends a list', behaviour: () => mutters(`data: ["${rawMark}"]\n\n`), code: 'broken_answer' },
  { name: 'sends [DONE] alone', behaviour: () => mutters('data: [DONE]\n\n'), code: 'broken_answer' },
  { name: 'sends nothing', behaviour: () => mutters(''), code: 'broken_answer' },
  {
    name: 'begins an event of 100 MB',
    behaviour: () => endlessEvent(0),
    code: 'broken_answer',
    isLarge: true,
  },
  {
    name: 'sends an error in the stream',
    behaviour: () => mutters(`event: error\ndata: {"error":{"message":"${rawMark}"}}\n\n`),
    code: 'server_error',
  },
];

describe.concurrent.each(mainFormatPairs)(
  'a provider that fails before its first event: $name',
  ({ wire, upstream }) => {
    const pair = mainFormatPairs.findIndex((it) => it.wire === wire && it.upstream === upstream);
    // With a stream or without, alone or with another provider: of the four, two for each pair of formats, and the others for the next.
    const own = beforeTheStart.filter(({ isLarge }) => !isLarge || wire === upstream);
    const cases = own.flatMap((each, at) =>
      [true, false]
        .filter((stream) => stream || !each.streamOnly)
        .map((stream) => ({ ...each, stream, isFirstHalf: (pair + at + Number(stream)) % 2 === 0 })),
    );

    test.each(cases.filter(({ isFirstHalf, streamOnly }) => isFirstHalf || streamOnly))(
      '$name (stream: $stream): a status, no charge',
      async ({ behaviour, stream, ...each }) => {
        const on = each.isSlow ? quick : patient;
        const model = on.chaos.addModel(upstream, behaviour());
        const answer = await ask(on, { wire, model, stream });
        if (wire === 'messages') {
          const reported = each.isOverload ? [529, 'overloaded_error'] : [502, 'api_error'];
          expect([answer.status, errorOf(answer).type]).toEqual(reported);
        } else {
          expect(answer.status).toBe(502);
          expect(errorOf(answer)).toMatchObject({ type: 'upstream_failed', code: 'upstream_failed' });
        }
        const row = await on.waitForUsage(model);
        expect(row).toMatchObject({
          status: 'failed',
          errorCode: 'upstream_failed',
          charged: 0,
          input: 0,
          output: 0,
        });
        // A connection that broke is worth a second try where there is no other provider, as long as few break.
        const most = each.code === 'network' ? 2 : 1;
        expect(row.attempts.length).toBeLessThanOrEqual(most);
        const attempt = { provider: upstream, errorCode: each.code };
        expect(row.attempts).toMatchObject(Array(Math.max(1, row.attempts.length)).fill(attempt));
      },
    );

    test.each(cases.filter(({ isFirstHalf, streamOnly }) => !isFirstHalf || streamOnly))(
      '$name (stream: $stream): the next provider answers',
      async ({ behaviour, stream, ...each }) => {
        const on = each.isSlow ? quick : patient;
        const model = on.chaos.addModel(upstream, behaviour());
        const fallback = on.chaos.addModel(
          'spare',
          answers({ text: 'From the spare.', usage: { input: 5, output: 3 } }),
        );
        const answer = await ask(on, { wire, model, stream, more: { service: { fallbacks: [fallback] } } });
        expect(answer.status).toBe(200);
        expect(answer.headers['x-service-upstream']).toBe('spare');
        if (stream) expect(expectEnd(answer, wire, 'whole').text).toBe('From the spare.');
        else expect(answer.text).toContain('From the spare.');
        const row = await on.waitForUsage(fallback);
        expect(row).toMatchObject({ status: 'completed', provider: 'spare', input: 5, output: 3 });
        expect(row.charged).toBe(5 * nanoUsdPerToken.input + 3 * nanoUsdPerToken.output);
        expect(row.attempts).toMatchObject([
          { provider: upstream, errorCode: each.code },
          { provider: 'spare', status: 200, errorCode: null },
        ]);
        expect(on.usageOf(model)).toEqual([]);
      },
    );
  },
);

const started = 6;
const afterTheStart: Pick<BeforeCase, 'name' | 'behaviour' | 'isSlow' | 'isLarge'>[] = [
  { name: 'stalls', behaviour: () => stallsAfter(started), isSlow: true },
  { name: 'resets', behaviour: () => cutAfter(started, 'reset') },
  { name: 'closes', behaviour: () => cutAfter(started, 'close') },
  { name: 'sends JSON that is none', behaviour: () => insertsAfter(started, `data: {${rawMark}\n\n`) },
  { name: 'sends a number', behaviour: () => insertsAfter(started, 'data: 17\n\n') },
  { name: 'sends an event of 100 MB', behaviour: () => endlessEvent(started), isLarge: true },
  {
    name: 'sends an error',
    behaviour: () => insertsAfter(started, `event: error\ndata: {"error":{"message":"${rawMark}"}}\n\n`),
  },
  {
    name: 'sends an answer of status 500 into the stream',
    behaviour: () =>
      insertsAfter(started, `HTTP/1.1 500 Oh\r\ncontent-length: 3\r\n\r\n${rawMark}\n\ndata: {${rawMark}`),
    isSlow: true,
  },
];

describe.concurrent.each(mainFormatPairs)(
  'a provider that fails after its first event: $name',
  ({ wire, upstream }) => {
    test.each(afterTheStart.filter(({ isLarge }) => !isLarge || wire === upstream))(
      '$name: one failure, no other provider, a charge for the delivered text',
      async (each) => {
        const on = each.isSlow ? stalling : patient;
        const model = on.chaos.addModel(upstream, each.behaviour());
        const fallback = on.chaos.addModel('spare', answers({ text: 'From the spare.' }));
        const answer = await ask(on, { wire, model, more: { service: { fallbacks: [fallback] } } });
        const reported = expectEnd(answer, wire, 'failed');
        expect(reported.errors).toEqual([failureIn(wire)]);
        expect(words.startsWith(reported.text) && reported.text.length > 0).toBe(true);
        expect(on.chaos.callsOf(fallback.slice('spare/'.length))).toEqual([]);
        const row = await on.waitForUsage(model);
        expect(row).toMatchObject({ status: 'failed', errorCode: 'upstream_failed', isReported: 0 });
        expect(row.output).toBe(Math.ceil(reported.text.length / 4));
        expect(row.input).toBeGreaterThan(0);
        expect(row.charged).toBe(row.input * nanoUsdPerToken.input + row.output * nanoUsdPerToken.output);
      },
    );

    test('a broken answer without streaming is reported as failed, charged for the received text', async () => {
      const model = patient.chaos.addModel(upstream, cutAfter(started, 'reset'));
      const answer = await ask(patient, { wire, model, stream: false });
      // Of a document in the caller's format there is no output before its end.
      const isFailedAnswer = wire === 'responses' && upstream !== 'responses';
      expect(answer.status).toBe(isFailedAnswer ? 200 : 502);
      const { code, type } = errorOf(answer);
      expect(code ?? type).toBe(failureIn(wire));
      await patient.waitForUsage(model);
    });
  },
);

describe.each(formatPairs)('an unusually formatted stream: $name', ({ wire, upstream }) => {
  const again = (text: string) => text.replace(/(data: \[DONE\]\n\n)?$/, 'data: [DONE]\n\ndata: [DONE]\n\n');
  const oddities: [string, (text: string) => string | Buffer][] = [
    ['CR alone', (text) => text.replaceAll('\n', '\r')],
    ['CRLF', (text) => text.replaceAll('\n', '\r\n')],
    ['a byte order mark', (text) => `\uFEFF${text}`],
    ['comments', (text) => text.replaceAll('\n\n', `\n\n: ${rawMark}\n\n`)],
    ['no space after the colon', (text) => text.replaceAll('data: ', 'data:')],
    [
      'unknown fields',
      (text) => text.replaceAll('data: ', `retry: 5\nid: ${rawMark}\nx: ${rawMark}\ndata: `),
    ],
    ['no last blank line', (text) => text.replace(/\n\n$/, '')],
    ['[DONE] twice', again],
    ['text after [DONE]', (text) => `${again(text)}data: {"${rawMark}\n\n${rawMark}`],
    ['blank lines between', (text) => text.replaceAll('\n\n', '\n\n\n\n\n')],
    ['the data on two lines', (text) => text.replaceAll('data: {', 'data: {\ndata: ')],
  ];

  test.each(oddities)('%s', async (_what, change) => {
    const model = patient.chaos.addModel(upstream, rewritten(change));
    const reported = expectEnd(await ask(patient, { wire, model }), wire, 'whole');
    expect(reported.text).toBe(words);
    expect((await patient.waitForUsage(model)).isReported).toBe(1);
  });

  test('invalid UTF-8 bytes become one replacement character each', async () => {
    const model = patient.chaos.addModel(
      upstream,
      rewritten((text) => {
        const bytes = Buffer.from(text);
        for (let at = bytes.indexOf('quick'); at >= 0; at = bytes.indexOf('quick', at + 1)) bytes[at] = 0xff;
        return bytes;
      }),
    );
    const reported = expectEnd(await ask(patient, { wire, model }), wire, 'whole');
    expect(reported.text).toBe(words.replaceAll('quick', '\uFFFDuick'));
  });

  test.each([1, 7])('packets of %i bytes: the same bytes as in one piece', async (size) => {
    const model = patient.chaos.addModel(upstream, answers());
    const whole = await ask(patient, { wire, model });
    patient.chaos.on(model.slice(upstream.length + 1), splitInto(size));
    const cut = await ask(patient, { wire, model });
    expect(expectEnd(cut, wire, 'whole').text).toBe(words);
    expect(timeless(cut.text)).toBe(timeless(whole.text));
  });

  test('text that looks like the end of the stream, with every kind of line ending', async () => {
    const text = 'one\r\n\r\ndata: [DONE]\n\nevent: error\rdata: {}\u2028\u2029\u0085\u0000 two';
    const model = patient.chaos.addModel(
      upstream,
      answers({ pieces: [text, ' three'], text: `${text} three` }),
    );
    expect(expectEnd(await ask(patient, { wire, model }), wire, 'whole').text).toBe(`${text} three`);
  });

  test('byte by byte', async () => {
    const model = patient.chaos.addModel(upstream, drips(5));
    expect(expectEnd(await ask(patient, { wire, model }), wire, 'whole').text).toBe(words);
  });
});

/** Without what differs between any two calls. */
function timeless(stream: string): string {
  return stream
    .replace(/\b(req|resp|msg|rs|chatcmpl)[_-][0-9a-zA-Z]{20,}/g, '$1')
    .replace(/"(created_at|completed_at|created|ms)":\d+/g, '"$1":0');
}

describe.each(formatPairs)('usage that a provider reports: $name', ({ wire, upstream }) => {
  const bounded = wire === 'responses' ? { max_output_tokens: 64 } : { max_tokens: 64 };

  const asTold = async (input: unknown, output: unknown, stream = true) => {
    const usage = { input, output } as { input: number; output: number };
    const model = patient.chaos.addModel(upstream, answers({ text: words, usage }));
    const answer = await ask(patient, { wire, model, stream, more: bounded });
    if (stream) expectEnd(answer, wire, 'whole');
    else expect(answer.status).toBe(200);
    return patient.waitForUsage(model);
  };
  // No tokenizer makes more of these prompts than that, and the caller allowed no more output.
  const most = 200 * nanoUsdPerToken.input + 64 * nanoUsdPerToken.output;

  test.each([true, false])('none: an estimate is charged (stream: %s)', async (stream) => {
    const model = patient.chaos.addModel(upstream, answers({ text: words, usage: 'none' }));
    const answer = await ask(patient, { wire, model, stream });
    expect(answer.status).toBe(200);
    const row = await patient.waitForUsage(model);
    expect(row).toMatchObject({ status: 'completed', isReported: 0, output: Math.ceil(words.length / 4) });
    expect(row.charged).toBe(row.input * nanoUsdPerToken.input + row.output * nanoUsdPerToken.output);
  });

  test.each([true, false])('zero stays zero (stream: %s)', async (stream) => {
    expect(await asTold(0, 0, stream)).toMatchObject({ status: 'completed', isReported: 1, charged: 0 });
  });

  test.each([true, false])('larger than the hold: the hold is charged (stream: %s)', async (stream) => {
    const row = await asTold(1_000_000, 1_000_000, stream);
    expect(row).toMatchObject({ status: 'completed', isReported: 1 });
    expect(row.charged).toBeGreaterThan(0);
    expect(row.charged).toBeLessThanOrEqual(most);
  });

  const unusable = [
    ['negative', -5, -7],
    ['negative output', 5, -7],
    ['negative input', -5, 7],
    ['huge', 9_007_199_254_740_991, 9_007_199_254_740_991],
    ['past what a number holds', 1e300, 1e300],
    ['no number', 'many', null],
    ['in halves', 1.5, 2.5],
  ].flatMap(([what, input, output]) => [true, false].map((stream) => ({ what, input, output, stream })));

  test.each(unusable)(
    '$what: an estimate is charged (stream: $stream)',
    async ({ input, output, stream }) => {
      const row = await asTold(input, output, stream);
      expect(row).toMatchObject({ status: 'completed', isReported: 0, output: Math.ceil(words.length / 4) });
      expect(row.charged).toBe(row.input * nanoUsdPerToken.input + row.output * nanoUsdPerToken.output);
      expect(row.charged).toBeLessThanOrEqual(most);
    },
  );
});

describe.each(formatPairs)('an answer that never ends: $name', ({ wire, upstream }) => {
  test.each([true, false])('is cut when it far exceeds its limit (stream: %s)', async (stream) => {
    const model = patient.chaos.addModel(upstream, neverEnds());
    const more = wire === 'responses' ? { max_output_tokens: 64 } : { max_tokens: 64 };
    const answer = await ask(patient, { wire, model, stream, more });
    expect(answer.status).toBe(200);
    const row = await patient.waitForUsage(model);
    expect(row).toMatchObject({ status: 'incomplete' });
    expect(answer.text.length).toBeLessThan(8_000_000);
  });

  test('is cut without a requested limit, too', async () => {
    const model = patient.chaos.addModel(upstream, neverEnds());
    const answer = await ask(patient, { wire, model });
    expect(answer.status).toBe(200);
    expect(await patient.waitForUsage(model)).toMatchObject({ status: 'incomplete' });
  });
});

describe('a rate-limiting provider', () => {
  const soon = () => new Date(Date.now() + 20_000).toUTCString();
  const cases: [string, string[], number, number][] = [
    ['seconds', ['retry-after: 7'], 7, 7],
    ['a date', [`retry-after: ${soon()}`], 1, 21],
    ['years', ['retry-after: 1000000000'], 60, 60],
    ['nothing', [], 1, 60],
    ['nonsense', ['retry-after: soon'], 1, 60],
    ['a time before now', ['retry-after: Sun, 06 Nov 1994 08:49:37 GMT'], 1, 60],
  ];

  test.each(cases)(
    'that sends %s: 429 with a wait of at most a minute',
    async (_what, headers, least, most) => {
      const model = patient.chaos.addModel(
        'chat',
        says(429, { headers: ['content-type: application/json', ...headers] }),
      );
      for (const stream of [true, false]) {
        const answer = await ask(patient, { wire: 'responses', model, stream });
        expect(answer.status).toBe(429);
        expect(errorOf(answer).code).toBe('rate_limited');
        const wait = Number(answer.headers['retry-after']);
        expect(wait).toBeGreaterThanOrEqual(least);
        expect(wait).toBeLessThanOrEqual(most);
      }
    },
  );

  test('is skipped while another one answers', async () => {
    const model = patient.chaos.addModel('chat', says(429, { headers: ['retry-after: 50'] }));
    const fallback = patient.chaos.addModel('spare', answers());
    const more = { service: { fallbacks: [fallback] } };
    for (let i = 0; i < 5; i += 1) {
      const answer = await ask(patient, { wire: 'chat', model, more });
      expect(answer.headers['x-service-upstream']).toBe('spare');
    }
    expect(patient.chaos.callsOf(model.slice(5))).toHaveLength(1);
  });
});

describe('a failing provider', () => {
  test('costs a call at most three attempts', async () => {
    const failing = Array.from({ length: 6 }, () => patient.chaos.addModel('chat', says(500)));
    const [model = '', ...fallbacks] = failing;
    const before = patient.chaos.calls.length;
    const answer = await ask(patient, { wire: 'chat', model, more: { service: { fallbacks } } });
    expect(answer.status).toBe(502);
    expect(patient.chaos.calls.length - before).toBe(3);
    expect((await patient.waitForUsage(model)).attempts).toHaveLength(3);
  });

  test('is skipped after five failures, so that callers do not wait for it', async () => {
    const model = patient.chaos.addModel('chat', says(500));
    const fallback = patient.chaos.addModel('spare', answers());
    for (let i = 0; i < 12; i += 1) {
      const more = { service: { fallbacks: [fallback] } };
      const answer = await ask(patient, { wire: 'chat', model, more });
      expect(answer.status).toBe(200);
    }
    expect(patient.chaos.callsOf(model.slice(5))).toHaveLength(5);
  });
});

describe.each(formatPairs)('unusual requests: $name', ({ wire, upstream }) => {
  test.each([
    ['漢字', '%E6%BC%A2%E5%AD%97'],
    ['café', 'caf%C3%A9'],
    ['two\r\nx-evil: 1', 'two%0D%0Ax-evil: 1'],
    ['half \ud800', 'half %EF%BF%BD'],
    ['__proto__', '__proto__'],
  ])('a model named %j is reported in a header', async (name, shown) => {
    for (const stream of [true, false]) {
      const answer = await ask(patient, { wire, model: `${upstream}/${name}`, stream });
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({ 'x-service-model': `${upstream}/${shown}` });
      expect(answer.headers).not.toHaveProperty('x-evil');
    }
  });

  test.each([Number.MAX_SAFE_INTEGER, 1e300])('an output limit of %d tokens', async (most) => {
    const model = patient.chaos.addModel(upstream, answers());
    const more = wire === 'responses' ? { max_output_tokens: most } : { max_tokens: most };
    expectEnd(await ask(patient, { wire, model, more }), wire, 'whole');
  });
});
