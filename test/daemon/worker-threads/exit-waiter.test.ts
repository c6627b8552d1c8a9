import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exitWaiter } from '../../../src/daemon/worker-threads/exit-waiter.ts';

class Thread extends EventEmitter {
  terminations = 0;

  async terminate(): Promise<number> {
    this.terminations += 1;
    this.emit('exit', 1);
    return 1;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function started() {
  const thread = new Thread();
  return { thread, end: exitWaiter(thread as unknown as Worker) };
}

test('a thread that ends on its own is not terminated', async () => {
  const { thread, end } = started();
  const ending = end();
  await vi.advanceTimersByTimeAsync(1_900);
  thread.emit('exit', 0);
  await ending;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(thread.terminations).toBe(0);
});

test('a thread that has already ended is not waited for', async () => {
  const { thread, end } = started();
  thread.emit('exit', 0);
  await end();
  expect(thread.terminations).toBe(0);
});

test('a thread that does not end is terminated after two seconds', async () => {
  const { thread, end } = started();
  const ending = end();
  await vi.advanceTimersByTimeAsync(1_999);
  expect(thread.terminations).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  await ending;
  expect(thread.terminations).toBe(1);
});
