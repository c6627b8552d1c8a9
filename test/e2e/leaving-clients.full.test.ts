import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Wire } from '../../src/daemon/features/upstreams/neutral.ts';
import {
  answers,
  drips,
  eventsOf,
  hangs,
  hangsAfterHeaders,
  neverEnds,
  stallsAfter,
  words,
} from '../support/chaos-behaviours.ts';
import { allFormatPairs, chaosForThisFile, nanoUsdPerToken } from '../support/chaos-daemon.ts';
import type { Behaviour } from '../support/chaos-upstream.ts';
import { heapBytes } from '../support/collect-garbage.ts';
import { eventually } from '../support/eventually.ts';
import { bodyOf, callModel, completeCall, parseStream } from '../support/model-client.ts';

const chaotic = await chaosForThisFile();

function addModel(upstream: string, behaviour: Behaviour): { model: string; name: string } {
  const model = chaotic.chaos.addModel(upstream, behaviour);
  return { model, name: model.slice(upstream.length + 1) };
}

const reported = { text: words, usage: { input: 500, output: 40 } };

/** Stalls before the last events of the usual answer. */
const allBut =
  (count: number, answer = reported): Behaviour =>
  (call) =>
    stallsAfter(eventsOf(call, answer).length - count, answer)(call);

describe.each(allFormatPairs)('a client that disconnects: $name', ({ wire, upstream }) => {
  /** Disconnects a client; returns its usage row and the text it received. */
  const leave = async (
    behaviour: Behaviour,
    options: { stream: boolean; after?: string; more?: Record<string, unknown> },
  ) => {
    const { model, name } = addModel(upstream, behaviour);
    const answer = callModel(chaotic.daemon, { wire, model, ...options });
    const call = await eventually('the provider is asked', () => chaotic.chaos.callsOf(name)[0]);
    if (options.after !== undefined) await answer.receives(options.after);
    answer.disconnect();
    await eventually('the provider connection is closed', () => call.isClosed);
    await chaotic.waitForUsage(model);
    const rows = chaotic.usageOf(model);
    expect(rows).toHaveLength(1);
    const [row] = rows;
    expect(row?.status).toBe('canceled');
    expect(row?.provider).toBe(upstream);
    return { row, delivered: options.stream ? parseStream(answer.text).text : '' };
  };
  const price = (input = 0, output = 0) => input * nanoUsdPerToken.input + output * nanoUsdPerToken.output;

  test.each([
    ['the headers', hangs(), true],
    ['the headers', hangs(), false],
    ['the first token', hangsAfterHeaders(), true],
    ['the first token', hangsAfterHeaders(), false],
    ['the first token, after a first event', stallsAfter(upstream === 'chat' ? 0 : 2), true],
  ])('before %s pays for the prompt', async (_what, behaviour, stream) => {
    const { row } = await leave(behaviour, { stream });
    expect(row).toMatchObject({ isReported: 0, output: 0 });
    expect(row?.input).toBeGreaterThan(0);
    expect(row?.charged).toBe(price(row?.input));
  });

  test('in the middle of a stream pays for the prompt and the delivered text', async () => {
    const { row, delivered } = await leave(stallsAfter(8), { stream: true, after: 'quick' });
    expect(delivered.length).toBeGreaterThan(0);
    expect(row).toMatchObject({ isReported: 0, output: Math.ceil(delivered.length / 4) });
    expect(row?.charged).toBe(price(row?.input, row?.output));
  });

  test.each([[[]], [['spare/other']]])(
    'in the middle of a whole answer pays for the prompt, with fallbacks %j',
    async (fallbacks) => {
      const { row } = await leave(stallsAfter(8), { stream: false, more: { service: { fallbacks } } });
      expect(row?.charged).toBe(price(row?.input, row?.output));
      expect(row?.charged).toBeGreaterThan(0);
      expect(row?.attempts.map(({ provider }) => provider)).toEqual([upstream]);
    },
  );

  test('before usage is reported pays for the prompt and the whole text', async () => {
    const { row, delivered } = await leave(allBut(upstream === 'responses' ? 1 : 2), {
      stream: true,
      after: 'flasks',
    });
    expect(delivered).toBe(words);
    expect(row).toMatchObject({ isReported: 0, output: Math.ceil(words.length / 4) });
    expect(row?.charged).toBe(price(row?.input, row?.output));
  });

  // In the Responses format, usage arrives with the last event.
  const toldBeforeTheEnd = [
    ['the provider’s count', { input: 500, output: 40 }],
    ['nothing, if that is what was reported', { input: 0, output: 0 }],
  ] as const;
  test.each(upstream === 'responses' ? [] : toldBeforeTheEnd)(
    'between usage and the end pays %s',
    async (_what, usage) => {
      const behaviour = allBut(1, { text: words, usage });
      const { row } = await leave(behaviour, { stream: true, after: 'flasks' });
      // The first event of the Messages format counts a token, and a later 0 replaces no count.
      const { input, output } = upstream === 'messages' ? { ...usage, output: usage.output || 1 } : usage;
      expect(row).toMatchObject({ isReported: 1, input, output, charged: price(input, output) });
    },
  );
});

test('disconnecting a client with two pipelined calls cancels both', async () => {
  const asked = ['first', 'second'].map((name) => {
    chaotic.chaos.on(name, stallsAfter(8));
    const body = JSON.stringify(bodyOf({ wire: 'responses', model: `chat/${name}`, stream: true }));
    const head = [
      'POST /v1/responses HTTP/1.1',
      `host: ${new URL(chaotic.daemon.url).host}`,
      `authorization: Bearer ${chaotic.daemon.key}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    return `${head.join('\r\n')}\r\n\r\n${body}`;
  });
  const socket = connect(Number(new URL(chaotic.daemon.url).port), '127.0.0.1');
  socket.write(asked.join(''));
  const calls = () => [...chaotic.chaos.callsOf('first'), ...chaotic.chaos.callsOf('second')];
  await eventually('both are asked', () => calls().length === 2);
  socket.destroy();
  await eventually('both are let go', () => calls().every(({ isClosed }) => isClosed));
  for (const name of ['chat/first', 'chat/second']) {
    expect(await chaotic.waitForUsage(name)).toMatchObject({ status: 'canceled' });
  }
});

describe('a slow reader', () => {
  // Longer than any reader here will read.
  const more = { max_output_tokens: 100_000_000 };

  test('gets everything once it resumes reading', async () => {
    const text = 'again '.repeat(20_000);
    const { model, name } = addModel('responses', answers({ pieces: [text, text, text, text], text }));
    const answer = callModel(chaotic.daemon, { wire: 'responses', model, stream: true, more });
    await answer.started;
    answer.stopReading();
    await eventually('the provider is asked', () => chaotic.chaos.callsOf(name)[0]);
    answer.resumeReading();
    await answer.ended;
    expect(parseStream(answer.text)).toMatchObject({ ends: ['completed'], doneMarks: 1, isDoneLast: true });
    expect(parseStream(answer.text).text).toBe(text.repeat(4));
  });

  test.each(allFormatPairs)(
    'holds up its provider and no other caller: $name',
    async ({ wire, upstream }) => {
      const { model, name } = addModel(upstream, neverEnds());
      const bounds = wire === 'responses' ? more : { max_tokens: more.max_output_tokens };
      const slow = Array.from({ length: 4 }, () =>
        callModel(chaotic.daemon, { wire, model, stream: true, more: bounds }),
      );
      for (const answer of slow) {
        await answer.started;
        answer.stopReading();
      }
      const written = () =>
        chaotic.chaos
          .callsOf(name)
          .reduce((sum, { socket }) => sum + socket.bytesWritten - socket.writableLength, 0);
      const quick = addModel(upstream, answers());
      let before = -1;
      await eventually('the provider is held up', async () => {
        const now = written();
        const isStill = now === before;
        before = now;
        await Promise.all(Array.from({ length: 8 }, () => answerQuickly(wire, quick.model)));
        return isStill;
      });
      // The buffers of the kernel and of the daemon together.
      expect(before / slow.length).toBeLessThan(24 * 1024 * 1024);
      for (const answer of slow) answer.disconnect();
      await eventually('the provider is let go', () => chaotic.chaos.busy === 0);
      const { faults, usageOf } = await chaotic.waitUntilIdle();
      expect(faults).toEqual([]);
      expect(usageOf(model).map(({ status }) => status)).toEqual(slow.map(() => 'canceled'));
    },
  );

  async function answerQuickly(wire: Wire, model: string): Promise<void> {
    const answer = await completeCall(chaotic.daemon, { wire, model, stream: true });
    expect(parseStream(answer.text)).toMatchObject({ text: words, isDoneLast: true });
  }
});

describe('100 calls whose clients disconnect at random', () => {
  const clients = 100;
  const rounds = 4;

  test('leak no connection, no hold and no memory', async () => {
    const random = seeded(20_260_401);
    const heaps: number[] = [];
    chaotic.chaos.calls.length = 0;
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(Array.from({ length: clients }, () => oneClient(random)));
      const { holds, faults } = await chaotic.waitUntilIdle();
      expect({ holds, faults }).toEqual({ holds: [], faults: [] });
      expectOneRowEach();
      chaotic.chaos.calls.length = 0;
      heaps.push(heapBytes());
    }
    const [, second = 0] = heaps;
    // Idle connections are closed after four seconds; a leaked one would stay open.
    await eventually('no connection is left', () => chaotic.chaos.connections === 0);
    await expect.poll(() => heapBytes() - second, { interval: 100 }).toBeLessThan(16 * 1024 * 1024);
  });

  async function oneClient(random: () => number): Promise<void> {
    const pair = allFormatPairs[Math.floor(random() * allFormatPairs.length)] ?? {
      wire: 'chat',
      upstream: 'chat',
    };
    const stream = random() < 0.8;
    const { model } = addModel(pair.upstream, drips(1 + Math.floor(random() * 4)));
    const answer = callModel(chaotic.daemon, { wire: pair.wire, model, stream });
    const point = random();
    if (point < 0.25) {
      await answer.ended;
      if (stream) expect(parseStream(answer.text)).toMatchObject({ text: words, isDoneLast: true });
      return;
    }
    const spoken = words.split(' ');
    if (point < 0.5) answer.disconnect();
    else if (point < 0.6 || !stream) await answer.started;
    else await answer.receives(spoken[Math.floor(random() * spoken.length)] ?? '').catch(() => {});
    answer.disconnect();
    await answer.ended;
  }

  /** Every call that reached the provider is charged exactly once. */
  function expectOneRowEach(): void {
    const { usage } = chaotic.ledger();
    const rows = new Map<string, number>();
    for (const { model } of usage) rows.set(model, (rows.get(model) ?? 0) + 1);
    for (const call of chaotic.chaos.calls) expect(rows.get(`${call.wire}/${call.model}`)).toBe(1);
  }
});

/** A small generator of numbers from 0 to 1: mulberry32, for the same run each time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
