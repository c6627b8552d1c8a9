import { expect, test } from 'vitest';
import { RateWindow, rateWindowMs } from '../../../../src/daemon/features/metering/rules/rate-window.ts';
import { heapBytes } from '../../../support/collect-garbage.ts';

/** The number of times within the window: the highest limit that another request exceeds. */
function countOf(window: RateWindow, now: number): number {
  let limit = 1;
  while (window.waitMs(limit, now) > 0) limit += 1;
  return limit - 1;
}

test('counts the times of the last minute, and returns when the next one fits', () => {
  const window = new RateWindow();
  for (const at of [0, 10, 20]) window.add(at);
  expect(countOf(window, 20)).toBe(3);
  expect(window.waitMs(3, 20)).toBe(rateWindowMs - 20);
  expect(window.waitMs(4, 20)).toBe(0);
  expect(countOf(window, rateWindowMs)).toBe(2);
  expect(window.waitMs(3, rateWindowMs)).toBe(0);
});

test('counts earlier times that are added later', () => {
  const window = new RateWindow();
  window.add(100);
  window.addEarlier([40, -rateWindowMs, 60]);
  expect(countOf(window, 100)).toBe(3);
  expect(countOf(window, rateWindowMs + 40)).toBe(2);
});

test('counts calls that are late, and by clocks that differ, where they are expected', () => {
  const window = new RateWindow(10_000);
  for (const at of [0, 5_000, rateWindowMs + 4_000]) window.add(at);
  // The call at 0 is out of the window of the latest one, and not of this one.
  expect(window.waitMs(4, rateWindowMs - 1)).toBe(0);
  expect(window.waitMs(3, rateWindowMs - 1)).toBe(1);
  window.add(rateWindowMs + 3_000);
  expect(countOf(window, rateWindowMs + 4_000)).toBe(3);
});

test('refuses nothing until a clock that was set back has caught up', () => {
  const [before, after] = [100 * rateWindowMs, 40 * rateWindowMs];
  const window = new RateWindow(10_000);
  for (const at of [0, 1, 2]) window.add(before + at);
  expect(window.waitMs(3, before + 2)).toBeGreaterThan(0);
  expect(window.waitMs(3, after)).toBe(0);
  for (const at of [0, 1, 2]) window.add(after + at);
  expect(window.waitMs(3, after + 2)).toBe(rateWindowMs - 2);
  // A call that ended long after it started and is counted only then takes nothing away.
  window.add(after - 30 * rateWindowMs);
  expect(countOf(window, after + 2)).toBe(3);
});

test('keeps no more than a minute, even without counting', () => {
  const window = new RateWindow();
  const before = heapBytes();
  for (let at = 0; at < 3_000_000; at += 1) window.add(at * 10);
  expect(heapBytes() - before).toBeLessThan(8 * 1024 * 1024);
  expect(countOf(window, 30_000_000)).toBe(rateWindowMs / 10 - 1);
});
