import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { aroundStart, aroundThreadStarts } from '../../../src/daemon/worker-threads/thread-starts.ts';

afterEach(() => aroundThreadStarts(undefined));

const threads = {
  answers: `const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (asked) => parentPort.postMessage(asked));`,
  ends: '',
  fails: 'throw new Error("no such database");',
};

/** How many starts are going on, from now on. */
function countStarts(): () => number {
  let starting = 0;
  aroundThreadStarts(() => {
    starting += 1;
    return () => {
      starting -= 1;
    };
  });
  return () => starting;
}

function startThread(name: keyof typeof threads) {
  const starting = countStarts();
  return { thread: aroundStart(() => new Worker(threads[name], { eval: true })), starting };
}

test('a thread starts until its first message', async () => {
  const { thread, starting } = startThread('answers');
  expect(starting()).toBe(1);
  thread.postMessage('ready?');
  await once(thread, 'message');
  expect(starting()).toBe(0);
  await thread.terminate();
});

test.each(['ends', 'fails'] as const)('a thread that %s without a message starts no longer', async (name) => {
  const { thread, starting } = startThread(name);
  thread.on('error', () => {});
  await new Promise((resolve) => thread.once('exit', resolve));
  expect(starting()).toBe(0);
});

test('a thread that cannot be made starts no longer', () => {
  const starting = countStarts();
  expect(() => aroundStart(() => new Worker('no/such/script.js'))).toThrow('path');
  expect(starting()).toBe(0);
});
