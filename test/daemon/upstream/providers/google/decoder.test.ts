import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UpstreamFailure } from '../../../../../src/daemon/features/upstreams/upstream.ts';
import { googleAdapter } from '../../../../../src/daemon/upstream/providers/google/index.ts';
import { decode, summarize, upstreamCall } from '../../../../support/upstream-call.ts';

const model = 'gemini-3-flash-preview';

/** A decoder whose generated call ids are call_1, call_2, … */
function newDecoder() {
  let calls = 0;
  const makeCallId = () => `call_${++calls}`;
  const adapter = googleAdapter({ name: 'google', baseUrl: 'https://example.test/v1beta' }, { makeCallId });
  return adapter.decoder(upstreamCall(model));
}

const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../../../../fixtures/providers/google/${name}.chunks.txt`, import.meta.url));
const summaryOf = (bytes: Uint8Array) => summarize(decode(newDecoder(), bytes));
const origin = (payload: unknown) => ({ provider: 'google', model, payload });

const sse = (...events: unknown[]): Uint8Array =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''));
const piece = (parts: unknown[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, finishReason }],
});
const last = (finishReason = 'STOP') => piece([{ text: '' }], finishReason);

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
  test('is one message, followed by the signature of its text', () => {
    expect(summaryOf(fixture('text-signed-at-the-end'))).toEqual({
      items: [
        { kind: 'message', text: 'Grüße aus 京都 🌤️👩‍🚀.' },
        { kind: 'reasoning', origin: origin({ text: 'EpcCCpQCARFNMg9GpVP+text/signature==' }) },
      ],
      usage: { input: 15, cachedInput: 8, cacheWrite: 0, output: 66, reasoning: 52 },
      finish: 'stop',
    });
  });

  test('has one call per part, even of the same function, and the first signature before it', () => {
    expect(summaryOf(fixture('thoughts-then-parallel-calls'))).toEqual({
      items: [
        {
          kind: 'reasoning',
          reasoning: '**Planning the look-ups**\n\nTwo cities: Köln und 京都.\n\n',
          origin: origin({ calls: { call_1: 'AY89a19YsnFp7FOSIejJDV9XuMU996D+first==' } }),
        },
        { kind: 'function_call', callId: 'call_1', name: 'get_weather', arguments: '{"city":"Köln"}' },
        { kind: 'function_call', callId: 'call_2', name: 'get_weather', arguments: '{"city":"京都"}' },
        { kind: 'function_call', callId: 'call_3', name: 'refresh', arguments: '{}' },
      ],
      usage: { input: 65, cachedInput: 0, cacheWrite: 0, output: 214, reasoning: 183 },
      finish: 'stop',
    });
  });

  test('of an old model continues after STOP, and only the last finish reason counts', () => {
    expect(summaryOf(fixture('stop-in-every-piece'))).toMatchObject({
      items: [{ kind: 'message', text: 'One, zwei, trois' }],
      usage: { input: 4, output: 6 },
      finish: 'max_output_tokens',
    });
  });

  test('of a blocked prompt has no candidates and is filtered', () => {
    expect(summaryOf(fixture('prompt-blocked'))).toMatchObject({
      items: [],
      usage: { input: 9, output: 0 },
      finish: 'content_filter',
    });
  });

  test.each([
    'text-signed-at-the-end',
    'thoughts-then-parallel-calls',
    'stop-in-every-piece',
    'prompt-blocked',
  ])('is the same wherever its bytes are split: %s', (name) => {
    const bytes = fixture(name);
    const whole = decode(newDecoder(), bytes);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
        expect(decode(newDecoder(), bytes, cuts)).toEqual(whole);
      }),
      { numRuns: 60 },
    );
    expect(decode(newDecoder(), bytes, Array.from(bytes.keys()))).toEqual(whole);
  });

  test.each(['text-signed-at-the-end', 'thoughts-then-parallel-calls'])(
    'that closes before a finish reason is broken: %s',
    (name) => {
      const bytes = fixture(name);
      const closing = Buffer.from(bytes).lastIndexOf('data: ');
      for (let length = 0; length <= closing; length += 11) {
        expect(failureOf(bytes.subarray(0, length)).kind).toBe('broken');
      }
    },
  );
});

describe('the end', () => {
  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'max_output_tokens'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
  ])('%s is %s, also after function calls', (reason, finish) => {
    const call = piece([{ functionCall: { name: 'look' } }], 'STOP');
    expect(summaryOf(sse(call, last(reason))).finish).toBe(finish);
  });

  test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'OTHER', 'SOMETHING_NEW', 'constructor'])(
    '%s without content is a failure, not an empty answer',
    (reason) => {
      expect(failureOf(sse(last(reason))).kind).toBe('server');
    },
  );

  // tashfeenahmed/freellmapi#1007
  test('text that each event repeats is read once', () => {
    const text = 'It rains, and the wind is strong.';
    const events = [16, 24, text.length].map((length) => piece([{ text: text.slice(0, length) }]));
    expect(summaryOf(sse(...events, last())).items).toEqual([{ kind: 'message', text }]);
  });

  test.each([
    [{ city: 'Oslo' }, '{"city":"Oslo"}'],
    ['{"city":"Oslo"}', '{"city":"Oslo"}'],
    [null, '{}'],
    [undefined, '{}'],
  ])('the arguments %j', (args, expected) => {
    const call = piece([{ functionCall: { name: 'f', args } }], 'STOP');
    expect(summaryOf(sse(call)).items).toMatchObject([{ name: 'f', arguments: expected }]);
  });

  test('arguments that are no object are a failure that names the function', () => {
    const { details } = failureOf(sse(piece([{ functionCall: { name: 'f', args: 'Oslo' } }], 'STOP')));
    expect(details.publicMessage).toContain('The tool f was called');
  });

  test('OTHER after a text keeps the text; a failed call does not', () => {
    expect(summaryOf(sse(piece([{ text: 'Well.' }]), last('OTHER'))).finish).toBe('stop');
    expect(failureOf(sse(piece([{ text: 'Looking.' }]), last('MALFORMED_FUNCTION_CALL'))).kind).toBe(
      'server',
    );
  });
});

describe('calls', () => {
  test('keep the provider’s ids if they are unique and valid', () => {
    const call = (id: unknown) => ({ functionCall: { name: 'look', id } });
    const { items } = summaryOf(sse(piece([call('fc_9'), call('fc_9'), call('x'.repeat(65))]), last()));
    expect(items.map(({ callId }) => callId)).toEqual(['fc_9', 'call_1', 'call_2']);
  });

  test('without thoughts before them still keep their signature', () => {
    const parts = [{ text: 'Looking.' }, { functionCall: { name: 'look' }, thoughtSignature: 'sig' }];
    expect(summaryOf(sse(piece(parts), last())).items).toEqual([
      { kind: 'message', text: 'Looking.' },
      { kind: 'reasoning', origin: origin({ calls: { call_1: 'sig' } }) },
      { kind: 'function_call', callId: 'call_1', name: 'look', arguments: '{}' },
    ]);
  });
});

test('a call without a name is a broken answer', () => {
  expect(failureOf(sse(piece([{ functionCall: { args: {} } }]), last())).kind).toBe('broken');
});

describe('usage', () => {
  test('replaces earlier counts', () => {
    const usageMetadata = (candidatesTokenCount: number) => ({ promptTokenCount: 5, candidatesTokenCount });
    const events = decode(
      newDecoder(),
      sse(
        { ...piece([{ text: 'a' }]), usageMetadata: usageMetadata(1) },
        { ...last(), usageMetadata: usageMetadata(4) },
      ),
    );
    const usages = events.filter((event) => event.type === 'usage');
    expect(usages.map(({ tokens }) => tokens.output)).toEqual([1, 4]);
  });

  test('counts audio and images separately', () => {
    const details = (...list: [modality: string, tokenCount: number][]) =>
      list.map(([modality, tokenCount]) => ({ modality, tokenCount }));
    const usageMetadata = {
      promptTokenCount: 500,
      promptTokensDetails: details(['TEXT', 100], ['AUDIO', 400]),
      cachedContentTokenCount: 200,
      cacheTokensDetails: details(['AUDIO', 200]),
      candidatesTokenCount: 1300,
      candidatesTokensDetails: details(['IMAGE', 1290]),
    };
    const events = decode(newDecoder(), sse({ ...last(), usageMetadata }));
    const [usage] = events.filter((event) => event.type === 'usage');
    expect(usage?.tokens).toMatchObject({
      output: 1300,
      media: { audioInput: 400, cachedAudio: 200, audioOutput: 0, imageOutput: 1290 },
    });
  });

  test('without an output count at the end takes it from the total', () => {
    const usageMetadata = { promptTokenCount: 5, thoughtsTokenCount: 3, totalTokenCount: 15 };
    const events = decode(newDecoder(), sse(piece([{ text: 'half' }]), { ...last(), usageMetadata }));
    expect(events.filter((event) => event.type === 'usage')).toMatchObject([
      { tokens: { input: 5, output: 10, reasoning: 3 } },
    ]);
  });

  test('without an output count before the end is not 0', () => {
    const usageMetadata = { promptTokenCount: 5, cachedContentTokenCount: 3, totalTokenCount: 5 };
    const early = { ...piece([{ text: 'half' }]), usageMetadata };
    const { events } = newDecoder().push(sse(early));
    expect(events.map(({ type }) => type)).toEqual(['item-started', 'text', 'prompt-counted']);
    expect(events.at(-1)).toMatchObject({ tokens: { input: 5, cachedInput: 3 } });
  });
});

describe('a stream that breaks off', () => {
  const overloaded = { error: { code: 503, message: 'High demand.', status: 'UNAVAILABLE' } };

  test('with an error in an event fails with it', () => {
    const limited = { error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED' } };
    expect(failureOf(sse(overloaded)).kind).toBe('server');
    expect(failureOf(sse(piece([{ text: 'half' }]), limited)).kind).toBe('rate-limited');
  });

  test('with an error as plain JSON after the last event fails with it, wherever it is split', () => {
    const plain = Buffer.from(JSON.stringify(overloaded, null, 2));
    const bytes = Buffer.concat([sse(piece([{ text: 'half' }])), plain]);
    expect(failureOf(bytes).kind).toBe('server');
    const decoder = newDecoder();
    expect(() => decode(decoder, bytes, Array.from(bytes.keys()))).toThrow(
      expect.objectContaining({ kind: 'server' }),
    );
  });

  test('with something that is not JSON fails', () => {
    expect(failureOf(Buffer.from('data: {"candidates": [\n\n')).kind).toBe('broken');
  });
});

test('log probabilities come with their text, in the shape of OpenAI’s formats', () => {
  const logprobsResult = {
    chosenCandidates: [{ token: 'A', tokenId: 65, logProbability: -0.1 }],
    topCandidates: [
      {
        candidates: [
          { token: 'A', tokenId: 65, logProbability: -0.1 },
          { token: 'B', tokenId: 66, logProbability: -2.4 },
        ],
      },
    ],
  };
  const { candidates } = piece([{ text: 'A' }]);
  const batches = decode(newDecoder(), sse({ candidates: [{ ...candidates[0], logprobsResult }] }, last()));
  expect(batches.find(({ type }) => type === 'text')).toMatchObject({
    delta: 'A',
    logprobs: [
      {
        token: 'A',
        logprob: -0.1,
        bytes: [65],
        top_logprobs: [
          { token: 'A', logprob: -0.1 },
          { token: 'B', logprob: -2.4, bytes: [66] },
        ],
      },
    ],
  });
});
