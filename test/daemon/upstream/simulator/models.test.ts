import { describe, expect, test } from 'vitest';
import type { Batch } from '../../../../src/daemon/features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../../../src/daemon/features/upstreams/upstream.ts';
import { simulatorModels } from '../../../../src/daemon/upstream/simulator/models.ts';
import { simulator } from '../../../../src/daemon/upstream/simulator/simulator.ts';
import { fakeWorld, settled } from '../../../support/fake-world.ts';
import { user } from '../../../support/inference.ts';
import { getAnswer, openAnswer, startSimulator, tool } from './drive.ts';

const items = [user('Tell me about the sea')];

test('every listed model behaves as described, and other names fail', async () => {
  const upstream = startSimulator();
  const known = simulatorModels.map(({ id }) => id).filter((id) => id !== 'sim/slow');
  const outcomes = await Promise.all(
    known.map((model) => getAnswer(upstream, { model, items }).catch((error: unknown) => error)),
  );
  const kinds = outcomes.map((outcome) => (outcome instanceof UpstreamFailure ? outcome.kind : 'answered'));
  expect(Object.fromEntries(known.map((id, at) => [id, kinds[at]]))).toEqual({
    'sim/assistant': 'answered',
    'sim/echo': 'answered',
    'sim/flaky': 'server',
    'sim/broken': 'answered',
    'sim/limited': 'rate-limited',
    'sim/refuses': 'answered',
    'sim/filtered': 'answered',
    // Called at another endpoint.
    'sim/embedding': 'unknown-model',
  });
  await expect(getAnswer(upstream, { model: 'sim/other', items })).rejects.toMatchObject({
    kind: 'unknown-model',
  });
});

test('a name without sim/ is the same model', async () => {
  expect((await getAnswer(startSimulator(), { model: 'echo', items })).text).toBe('Tell me about the sea');
});

test('sim/echo repeats the last user text exactly', async () => {
  const text = ' two  spaces,\n\ta tab, “quotes” 👩‍👩‍👧 and a trailing blank ';
  const received = await getAnswer(startSimulator(), {
    model: 'sim/echo',
    items: [user(text)],
    tools: [tool('ping')],
  });
  expect(received.text).toBe(text);
});

test('sim/flaky fails every other call, whatever the request', async () => {
  const upstream = startSimulator();
  const outcomes: string[] = [];
  for (let call = 0; call < 4; call += 1) {
    outcomes.push(
      await getAnswer(upstream, { model: 'sim/flaky', items }).then(
        () => 'answered',
        (error: UpstreamFailure) => `${error.kind} ${error.details.status}`,
      ),
    );
  }
  expect(outcomes).toEqual(['server 503', 'answered', 'server 503', 'answered']);
});

describe('sim/broken', () => {
  test('breaks off in the middle of its text, without usage or an end', async () => {
    const received = await getAnswer(startSimulator(), { model: 'sim/broken', items });
    expect(received.text).toBe('You said: “Tell me about the sea”. I');
    expect(received.failure).toMatchObject({ kind: 'broken' });
    expect(received).toMatchObject({ tokens: undefined, finish: undefined });
    expect(received.events.some(({ type }) => type === 'item-done')).toBe(false);
  });

  test('breaks off short answers too', async () => {
    const received = await getAnswer(startSimulator(), { model: 'sim/broken', items, tools: [tool('ping')] });
    expect(received.calls).toHaveLength(1);
    expect(received.failure).toMatchObject({ kind: 'broken' });
  });
});

test('sim/limited sends a Retry-After', async () => {
  await expect(getAnswer(startSimulator(), { model: 'sim/limited', items })).rejects.toMatchObject({
    kind: 'rate-limited',
    details: { status: 429, retryAfterSeconds: 1 },
  });
});

test('sim/refuses sends only a refusal', async () => {
  const received = await getAnswer(startSimulator(), { model: 'sim/refuses', items });
  expect(received).toMatchObject({ text: '', finish: 'stop', refusal: expect.stringContaining('sorry') });
});

test('sim/filtered is stopped by a content filter', async () => {
  const received = await getAnswer(startSimulator(), { model: 'sim/filtered', items, tools: [tool('ping')] });
  expect(received).toMatchObject({
    text: 'You said: “Tell me about the sea”. I',
    finish: 'content_filter',
    calls: [],
  });
});

describe('sim/slow', () => {
  function start() {
    const world = fakeWorld();
    const upstream = simulator({ world, makeCallId: () => 'call_1' });
    const abort = new AbortController();
    const opening = openAnswer(upstream, { model: 'sim/slow', items, signal: abort.signal });
    return { world, abort, opening };
  }

  test('waits half a second, then sends 20 tokens per second', async () => {
    const { world, opening } = start();
    let text = '';
    let isOver = false;
    const reading = opening.then(async (batches) => {
      for await (const { events } of batches) {
        for (const event of events) if (event.type === 'text') text += event.delta;
      }
      isOver = true;
    });
    await world.advance(499);
    expect(text).toBe('');
    await world.advance(1);
    expect(text).toBe('You');
    await world.advance(50);
    expect(text).toBe('You said:');
    await world.advance(150);
    expect(text).toBe('You said: “Tell me about');
    expect(isOver).toBe(false);
    await world.advance(10_000);
    await reading;
    expect(text).toContain('same answer.');
  });

  test('a slow reader gets everything that is due in one batch', async () => {
    const { world, opening } = start();
    await world.advance(500);
    const reader = (await opening)[Symbol.asyncIterator]();
    const next = async () => ((await reader.next()).value as Batch).events.length;
    expect(await next()).toBe(2);
    const waiting = next();
    await world.advance(5000);
    await waiting;
    expect(await next()).toBeGreaterThan(10);
  });

  test('stops immediately when the caller leaves, before the answer and during it', async () => {
    const early = start();
    const refused = expect(early.opening).rejects.toThrow('left');
    early.abort.abort(new Error('left'));
    await refused;
    expect(early.world.sleeping()).toBe(0);

    const late = start();
    await late.world.advance(500);
    const batches = await late.opening;
    const reading = expect(
      (async () => {
        for await (const _ of batches) await settled();
      })(),
    ).rejects.toThrow('left');
    await late.world.advance(100);
    late.abort.abort(new Error('left'));
    await reading;
    expect(late.world.sleeping()).toBe(0);
  });
});

test('nothing is sent after the caller has left', async () => {
  const abort = new AbortController();
  const batches = await openAnswer(startSimulator(), {
    items: [user('Write 2000 words')],
    signal: abort.signal,
  });
  const reader = batches[Symbol.asyncIterator]();
  await reader.next();
  abort.abort(new Error('left'));
  await expect(reader.next()).rejects.toThrow('left');
});
