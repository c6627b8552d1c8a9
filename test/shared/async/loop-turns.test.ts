import { expect, test } from 'vitest';
import { LoopTurns } from '../../../src/shared/async/loop-turns.ts';

test('a task that is small has no turn to wait for', () => {
  expect(new LoopTurns().next(1024 * 1024 - 1)).toBeUndefined();
});

test('each slow task gets a turn of the event loop of its own, in order, also what comes later', async () => {
  const turns = new LoopTurns();
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const begun: { task: number; turn: number }[] = [];
  const run = async (task: number) => {
    await turns.next(1024 * 1024);
    begun.push({ task, turn });
    // What follows in the same turn.
    await Promise.resolve();
  };
  await Promise.all([run(0), run(1), run(2).then(() => run(4)), run(3)]);
  await run(5);
  isOver = true;
  expect(begun.map(({ task }) => task)).toEqual([0, 1, 2, 3, 4, 5]);
  for (const [at, { turn: later }] of begun.entries()) {
    if (at > 0) expect(later).toBeGreaterThan(begun[at - 1]?.turn as number);
  }
});
