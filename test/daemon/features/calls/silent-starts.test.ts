import { expect, test } from 'vitest';
import { SilentStarts } from '../../../../src/daemon/features/calls/silent-starts.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

function scene() {
  const world = fakeWorld();
  const starts = new SilentStarts(world);
  const silent: string[] = [];
  const wait = (name: string, ms: number) => starts.wait(ms, () => silent.push(name));
  return { world, silent, wait };
}

test('a call is found silent once its time is over', async () => {
  const { world, silent, wait } = scene();
  wait('first', 30_000);
  await world.advance(20_000);
  wait('second', 30_000);
  await world.advance(9_000);
  expect(silent).toEqual([]);
  await world.advance(2_000);
  expect(silent).toEqual(['first']);
  await world.advance(60_000);
  expect(silent).toEqual(['first', 'second']);
});

test('a call whose time became shorter by a reload does not wait for those before it', async () => {
  const { world, silent, wait } = scene();
  wait('long', 600_000);
  wait('short', 10_000);
  await world.advance(12_000);
  expect(silent).toEqual(['short']);
});

test('a call that was answered is not silent, and nothing is checked any more', async () => {
  const { world, silent, wait } = scene();
  const end = wait('answered', 30_000);
  await world.advance(1_000);
  end();
  await world.advance(60_000);
  expect({ silent, sleeping: world.sleeping() }).toEqual({ silent: [], sleeping: 0 });
});

test('a thousand calls share one sleeper', async () => {
  const { world, wait } = scene();
  for (let at = 0; at < 1_000; at += 1) wait(`call ${at}`, 30_000);
  expect(world.sleeping()).toBe(1);
});

test('0 milliseconds are never over', async () => {
  const { world, silent, wait } = scene();
  wait('any', 0);
  await world.advance(3_600_000);
  expect({ silent, sleeping: world.sleeping() }).toEqual({ silent: [], sleeping: 0 });
});
