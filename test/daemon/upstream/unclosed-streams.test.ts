import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { UpstreamCall } from '../../../src/daemon/features/upstreams/upstream.ts';
import type { Adapter, ProviderSettings } from '../../../src/daemon/upstream/adapter.ts';
import { httpUpstream } from '../../../src/daemon/upstream/http-upstream.ts';
import { createNetwork } from '../../../src/daemon/upstream/network.ts';
import { anthropicAdapter } from '../../../src/daemon/upstream/providers/anthropic/index.ts';
import { googleAdapter } from '../../../src/daemon/upstream/providers/google/index.ts';
import { chatAdapter } from '../../../src/daemon/upstream/providers/openai-chat/adapter.ts';
import { pauseProcess } from '../../support/pause-process.ts';
import { chunk, chunkedHead, startRawServer } from '../../support/raw-server.ts';
import { callOf, chunkOf, readAll, sse, summary } from './upstream-fixture.ts';

const closingMs = 120;
/** Far longer than any test runs. */
const idleMs = 300_000;

type Json = Record<string, unknown>;
/** Events, pauses between them in milliseconds, and what else happens. */
type Script = (Json | number | (() => void))[];

/** Opens the stream of a provider that never closes it; the connection is dropped at the end. */
async function answered(
  make: (settings: ProviderSettings) => Adapter,
  script: Script,
  call: UpstreamCall,
  timeouts = { closingMs },
) {
  const server = await startRawServer(async (socket) => {
    socket.write(chunkedHead());
    for (const step of script) {
      // After all timers that are due, so that those of a pause come before what was sent is read.
      if (typeof step === 'number') await wait(step).then(() => nextTurn());
      else if (typeof step === 'function') step();
      else socket.write(chunk(sse(step).toString()));
    }
    const beat = setInterval(() => socket.write(chunk(': still here\n\n')), closingMs / 4);
    socket.once('close', () => clearInterval(beat));
  });
  const network = createNetwork();
  onTestFinished(() => network.close());
  const upstream = httpUpstream({
    name: 'fake',
    adapter: make({ name: 'fake', baseUrl: server.url }),
    send: network.send,
    timeouts: {
      headersMs: idleMs,
      firstEventMs: idleMs,
      idleMs,
      outputMs: idleMs,
      totalMs: idleMs,
      ...timeouts,
    },
  });
  const decoded = await readAll(await upstream.open(call, AbortSignal.timeout(idleMs / 2)));
  await server.allClosed();
  return { ...summary(decoded.events), frames: decoded.frames };
}

const google = (settings: ProviderSettings) => googleAdapter(settings, { makeCallId: () => 'call_1' });
const geminiPiece = (text: string, more: Json = {}) => ({
  candidates: [{ content: { parts: [{ text }] }, ...more }],
});
const geminiUsage = { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3 } };
const message: Json[] = [
  { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'all' } },
  { type: 'content_block_stop', index: 0 },
];
const stopped: Json = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { output_tokens: 3 },
};
const chatUsage: Json = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 3 } };

interface Format {
  name: string;
  make: (settings: ProviderSettings) => Adapter;
  /** Up to the finish reason. */
  events: Json[];
  /** What may follow the finish reason. */
  after?: Json;
}

const formats: Format[] = [
  {
    name: 'chat',
    make: chatAdapter,
    events: [chunkOf({ content: 'all' }), chunkOf({}, { finish: 'stop' })],
    after: chatUsage,
  },
  { name: 'Messages', make: anthropicAdapter, events: [...message, stopped] },
  {
    name: 'Gemini',
    make: google,
    events: [geminiPiece('all', { finishReason: 'STOP' })],
    after: geminiUsage,
  },
];

describe.each(formats)(
  'a stream of $name that is not closed after its finish reason',
  ({ make, ...format }) => {
    const usage = { input: 5, output: 3 };

    test('is complete after a short wait, which heartbeats do not extend', async () => {
      const answer = await answered(make, format.events, callOf());
      expect(answer).toMatchObject({ text: 'all', finish: 'stop' });
      if (!format.after) expect(answer.tokens).toMatchObject(usage);
    });

    test('includes usage that arrives within that wait', async () => {
      const late = format.after ? [closingMs / 2, format.after] : [];
      const answer = await answered(make, [...format.events, ...late], callOf(), { closingMs: idleMs });
      expect(answer).toMatchObject({ text: 'all', finish: 'stop', tokens: usage });
    });

    test('includes usage that arrives while this process is paused', async () => {
      // Long, so that no other pause comes before.
      const longMs = closingMs * 12;
      const late = format.after ? [closingMs / 4, format.after, () => pauseProcess(longMs)] : [];
      const answer = await answered(make, [...format.events, ...late], callOf(), { closingMs: longMs });
      expect(answer).toMatchObject({ text: 'all', finish: 'stop', tokens: usage });
    });
  },
);

test('a stream is complete within a second after its usage, whatever the closing timeout', async () => {
  const answer = await answered(anthropicAdapter, [...message, stopped], callOf(), { closingMs: idleMs });
  expect(answer).toMatchObject({ text: 'all', finish: 'stop', tokens: { input: 5, output: 3 } });
});

describe('a stream that continues after a finish reason is read to the end', () => {
  test.each<[string, Format['make'], (text: string) => Json, Json]>([
    [
      'chat',
      chatAdapter,
      (text) => chunkOf({ content: text }, { finish: 'stop' }),
      chunkOf({}, { finish: 'error' }),
    ],
    ['Gemini', google, (text) => geminiPiece(text, { finishReason: 'STOP' }), { error: { code: 500 } }],
  ])('%s', async (_name, make, piece, end) => {
    const script = [piece('one '), piece('two '), closingMs * 3, piece('three'), end];
    await expect(answered(make, script, callOf())).rejects.toMatchObject({ kind: 'server' });
  });

  test('one of several choices may end long before the others', async () => {
    const at = (index: number, content: string, finish?: string) =>
      chunkOf({ content }, { index, ...(finish && { finish }) });
    const script = [
      at(0, 'all', 'stop'),
      at(1, 'slow'),
      closingMs * 3,
      at(1, ' and whole', 'stop'),
      chatUsage,
    ];
    const call = callOf({ wire: 'chat', body: { model: 'm', messages: [], n: 2 } });
    const { frames, finish } = await answered(chatAdapter, script, call);
    expect(frames.map(({ raw }) => raw).join()).toContain(' and whole');
    expect(finish).toBe('stop');
  });
});
