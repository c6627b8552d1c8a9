import { expect, test } from 'vitest';
import { FairTurns } from '../../../src/daemon/http/fair-turns.ts';

test('tasks of an owner who sends many wait for one of each other owner', async () => {
  const turns = new FairTurns(2);
  const ended: string[] = [];
  let running = 0;
  const run = (owner: string) =>
    turns.run(owner, async () => {
      running += 1;
      expect(running).toBeLessThanOrEqual(2);
      await Promise.resolve();
      running -= 1;
      ended.push(owner);
    });
  await Promise.all(['a', 'a', 'a', 'a', 'a', 'b', 'b', 'c'].map(run));
  expect(ended).toEqual(['a', 'a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

test('a task that fails passes its turn on', async () => {
  const turns = new FairTurns(1);
  const failed = turns.run('a', () => Promise.reject(new Error('broken')));
  const next = turns.run('a', async () => 'next');
  await expect(failed).rejects.toThrow('broken');
  expect(await next).toBe('next');
  expect(await turns.run('b', async () => 'later')).toBe('later');
});
