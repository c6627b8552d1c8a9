import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { OutgoingRequest } from '../../../src/daemon/base/world.ts';
import { Exchange } from '../../../src/daemon/upstream/exchange.ts';

const controller = { paused: false, abort: () => {}, pause: () => {}, resume: () => {} };
const undici = controller as unknown as Dispatcher.DispatchController;

describe('the time limits of a call', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('a body that keeps coming is read, however long after the time for the headers', async () => {
    const { exchange, body } = await answered({ headersTimeoutMs: 100, idleTimeoutMs: 300 });
    const whole = body.bytes(100);
    for (const text of ['a', 'b', 'c']) {
      vi.advanceTimersByTime(290);
      exchange.onResponseData(undici, Buffer.from(text));
    }
    exchange.onResponseEnd();
    expect(Buffer.from(await whole).toString()).toBe('abc');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a wait that is shorter than the one before ends in its own time', async () => {
    const { body } = await answered({ headersTimeoutMs: 60_000, idleTimeoutMs: 300 });
    const read = expect(body[Symbol.asyncIterator]().next()).rejects.toMatchObject({ kind: 'idle-timeout' });
    vi.advanceTimersByTime(300);
    await read;
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a stall after some bytes fails once the idle time has passed since the last of them', async () => {
    const { exchange, body } = await answered({ headersTimeoutMs: 100, idleTimeoutMs: 300 });
    let isOver = false;
    const whole = expect(body.bytes(100).finally(() => (isOver = true))).rejects.toMatchObject({
      kind: 'idle-timeout',
    });
    vi.advanceTimersByTime(200);
    exchange.onResponseData(undici, Buffer.from('a'));
    await vi.advanceTimersByTimeAsync(299);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
    await whole;
  });

  test('a slow reader is not ended by the idle time, and its next wait is', async () => {
    const { exchange, body } = await answered({ idleTimeoutMs: 300 });
    const reader = body[Symbol.asyncIterator]();
    const first = reader.next();
    exchange.onResponseData(undici, Buffer.from('a'));
    await first;
    await vi.advanceTimersByTimeAsync(5_000);
    exchange.onResponseData(undici, Buffer.from('b'));
    expect(Buffer.from((await reader.next()).value).toString()).toBe('b');
    const stalled = expect(reader.next()).rejects.toMatchObject({ kind: 'idle-timeout' });
    await vi.advanceTimersByTimeAsync(300);
    await stalled;
  });

  test('the total time ends a body that keeps coming', async () => {
    const { exchange, body } = await answered({ idleTimeoutMs: 300, totalTimeoutMs: 1_000 });
    const whole = expect(body.bytes(100)).rejects.toMatchObject({ kind: 'total-timeout' });
    for (let i = 0; i < 10; i += 1) {
      vi.advanceTimersByTime(100);
      exchange.onResponseData(undici, Buffer.from('a'));
    }
    await whole;
  });

  test('a read between the end of the total time and what it ends waits for no time in the past', async () => {
    const { exchange, body } = await answered({ idleTimeoutMs: 3_000, totalTimeoutMs: 1_000 });
    const reader = body[Symbol.asyncIterator]();
    const first = reader.next();
    vi.advanceTimersByTime(1_100);
    exchange.onResponseData(undici, Buffer.from('a'));
    await first;
    const { setTimeout: set } = globalThis;
    const waits: number[] = [];
    const noting = (run: () => void, ms: number, ...args: []) => {
      waits.push(ms);
      return set(run, ms, ...args);
    };
    // Spies would not be gone with the timers of this test.
    globalThis.setTimeout = Object.assign(noting, set) as typeof set;
    const read = reader.next();
    globalThis.setTimeout = set;
    await expect(read).rejects.toMatchObject({ kind: 'total-timeout' });
    expect(waits).toHaveLength(1);
    for (const ms of waits) expect(ms).toBeGreaterThan(0);
  });

  test('the time for a whole body applies where it is shorter than the rest of the total time', async () => {
    const { body } = await answered({ totalTimeoutMs: 1_000, bodyTimeoutMs: 200 });
    const whole = expect(body.bytes(100)).rejects.toMatchObject({ kind: 'total-timeout' });
    vi.advanceTimersByTime(200);
    await whole;
  });
});

test('a reader that was away gets what came meanwhile in order, in short reads', async () => {
  const { exchange, body } = await answered({});
  const sizes = [10, 200, 70_000, 500, 30_000, 30_000, 5, 64_000, 1];
  const sent = Buffer.concat(sizes.map((size, at) => Buffer.alloc(size, 97 + at)));
  let at = 0;
  for (const size of sizes) {
    exchange.onResponseData(undici, sent.subarray(at, at + size));
    at += size;
  }
  exchange.onResponseEnd();
  const reads: Buffer[] = [];
  for await (const read of body) reads.push(Buffer.from(read));
  expect(Buffer.concat(reads).equals(sent)).toBe(true);
  // One chunk is never split.
  expect(Math.max(...reads.map(({ length }) => length))).toBe(70_000);
  expect(reads.length).toBeLessThan(sizes.length);
});

/** A call whose headers have arrived. */
async function answered(limits: Partial<OutgoingRequest>) {
  const exchange = new Exchange(
    { method: 'POST', url: 'http://provider.test/', headers: {}, ...limits },
    'provider.test',
  );
  exchange.onRequestStart(undici);
  exchange.onResponseStart(undici, 200, {});
  const { body } = await exchange.answer;
  return { exchange, body };
}
