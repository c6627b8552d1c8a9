import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RetryBudget } from '../../../src/daemon/features/routing/index.ts';
import { fakeWorld } from '../../support/fake-world.ts';

/** How many repetitions are to be had at once. */
function left(budget: RetryBudget, provider = 'a'): number {
  let taken = 0;
  while (budget.take(provider)) taken += 1;
  return taken;
}

test('a provider begins with ten repetitions, each of its own', () => {
  const budget = new RetryBudget(fakeWorld());
  expect(left(budget)).toBe(10);
  expect(left(budget, 'b')).toBe(10);
  expect(left(budget)).toBe(0);
});

test('ten calls earn one, and no more than ten are saved', () => {
  const budget = new RetryBudget(fakeWorld());
  left(budget);
  for (let call = 0; call < 9; call += 1) budget.earn('a');
  expect(left(budget)).toBe(0);
  budget.earn('a');
  expect(left(budget)).toBe(1);
  for (let call = 0; call < 1_000; call += 1) budget.earn('a');
  expect(left(budget)).toBe(10);
});

test('half a minute gives one, however few the calls are', async () => {
  const world = fakeWorld();
  const budget = new RetryBudget(world);
  left(budget);
  await world.advance(29_999);
  expect(left(budget)).toBe(0);
  await world.advance(1);
  expect(left(budget)).toBe(1);
  await world.advance(3_600_000);
  expect(left(budget)).toBe(10);
});

test('never more than a tenth of the calls, one each half minute, and the reserve', async () => {
  const step = fc.oneof(fc.constant('call'), fc.constant('again'), fc.integer({ min: 1, max: 60_000 }));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 400 }), async (steps) => {
      const world = fakeWorld();
      const budget = new RetryBudget(world);
      let calls = 0;
      let again = 0;
      for (const each of steps) {
        if (typeof each === 'number') await world.advance(each);
        else if (each === 'call') {
          budget.earn('a');
          calls += 1;
        } else if (budget.take('a')) again += 1;
      }
      expect(again).toBeLessThanOrEqual(10 + calls / 10 + world.elapsed() / 30_000);
    }),
    { numRuns: 50 },
  );
});
