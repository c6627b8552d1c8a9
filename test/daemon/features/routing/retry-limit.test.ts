import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RetryLimit } from '../../../../src/daemon/features/routing/open-route.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

function takeAll(limit: RetryLimit, provider = 'a'): number {
  let taken = 0;
  while (limit.take(provider)) taken += 1;
  return taken;
}

test('each provider starts with ten retries', () => {
  const limit = new RetryLimit(fakeWorld());
  expect(takeAll(limit)).toBe(10);
  expect(takeAll(limit, 'b')).toBe(10);
  expect(takeAll(limit)).toBe(0);
});

test('ten calls earn one retry, up to ten', () => {
  const limit = new RetryLimit(fakeWorld());
  takeAll(limit);
  for (let call = 0; call < 9; call += 1) limit.earn('a');
  expect(takeAll(limit)).toBe(0);
  limit.earn('a');
  expect(takeAll(limit)).toBe(1);
  for (let call = 0; call < 1_000; call += 1) limit.earn('a');
  expect(takeAll(limit)).toBe(10);
});

test('one is added every 30 s, without any calls', async () => {
  const world = fakeWorld();
  const limit = new RetryLimit(world);
  takeAll(limit);
  await world.advance(29_999);
  expect(takeAll(limit)).toBe(0);
  await world.advance(1);
  expect(takeAll(limit)).toBe(1);
  await world.advance(3_600_000);
  expect(takeAll(limit)).toBe(10);
});

test('never exceeds a tenth of the calls, one per 30 s, and the reserve', async () => {
  const step = fc.oneof(fc.constant('call'), fc.constant('retry'), fc.integer({ min: 1, max: 60_000 }));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 400 }), async (steps) => {
      const world = fakeWorld();
      const limit = new RetryLimit(world);
      let calls = 0;
      let retries = 0;
      for (const each of steps) {
        if (typeof each === 'number') await world.advance(each);
        else if (each === 'call') {
          limit.earn('a');
          calls += 1;
        } else if (limit.take('a')) retries += 1;
      }
      expect(retries).toBeLessThanOrEqual(10 + calls / 10 + world.elapsed() / 30_000);
    }),
    { numRuns: 50 },
  );
});
