import { expect, test } from 'vitest';
import { Semaphore } from '../../../src/shared/async/semaphore.ts';

test('tasks of an owner who sends many wait for one of each other owner', async () => {
  const turns = new Semaphore(() => 2);
  const ended: string[] = [];
  let running = 0;
  const run = (owner: string) =>
    turns.run(
      async () => {
        running += 1;
        expect(running).toBeLessThanOrEqual(2);
        await Promise.resolve();
        running -= 1;
        ended.push(owner);
      },
      { owner },
    );
  await Promise.all(['a', 'a', 'a', 'a', 'a', 'b', 'b', 'c'].map(run));
  expect(ended).toEqual(['a', 'a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

test('a task that fails passes its turn on', async () => {
  const turns = new Semaphore(() => 1);
  const failed = turns.run(() => Promise.reject(new Error('broken')), { owner: 'a' });
  const next = turns.run(async () => 'next', { owner: 'a' });
  await expect(failed).rejects.toThrow('broken');
  expect(await next).toBe('next');
  expect(await turns.run(async () => 'later', { owner: 'b' })).toBe('later');
});

test('a task whose signal is aborted leaves the line, and does not run', async () => {
  const turns = new Semaphore(() => 1);
  const first = Promise.withResolvers<string>();
  const running = turns.run(() => first.promise);
  const left = new AbortController();
  const order: string[] = [];
  const leaving = turns.run(async () => void order.push('left'), { owner: 'a', signal: left.signal });
  const next = turns.run(async () => void order.push('next'), { owner: 'b' });
  expect(turns.waiting).toBe(2);
  left.abort('gone');
  await expect(leaving).rejects.toBe('gone');
  expect(turns).toMatchObject({ running: 1, waiting: 1 });
  first.resolve('done');
  expect(await running).toBe('done');
  await next;
  expect(order).toEqual(['next']);
  expect(turns).toMatchObject({ running: 0, waiting: 0 });
});

test('a limit that is raised lets more of those who wait run', async () => {
  let most = 1;
  const turns = new Semaphore(() => most);
  const open = Promise.withResolvers<void>();
  const first = turns.run(async () => {});
  const others = [1, 2, 3].map(() => turns.run(() => open.promise));
  most = 3;
  await first;
  expect(turns.running).toBe(3);
  open.resolve();
  await Promise.all(others);
});
