import { expect, test } from 'vitest';
import { HangJudge } from '../../../src/daemon/worker-threads/watch-main-thread.ts';

const judge = () => new HangJudge(30_000, { turn: 7, cpuMs: 500 });

test('a main thread that made no turn is interrupted once, and killed when that does not help', () => {
  const watched = judge();
  const verdicts = [10_000, 30_499, 30_500, 35_000, 45_499, 45_500].map((cpuMs) =>
    watched.look({ turn: 7, cpuMs }),
  );
  expect(verdicts).toEqual(['well', 'well', 'interrupt', 'well', 'well', 'kill']);
});

test('a process that gets no CPU, as while it is suspended, is left alone however long that lasts', () => {
  const watched = judge();
  for (let look = 0; look < 1_000; look += 1) expect(watched.look({ turn: 7, cpuMs: 30_499 })).toBe('well');
});

test('a turn clears what was used before, however much it was', () => {
  const watched = judge();
  for (let turn = 8; turn < 100; turn += 1) {
    expect(watched.look({ turn, cpuMs: turn * 60_000 })).toBe('well');
    expect(watched.look({ turn, cpuMs: turn * 60_000 + 29_999 })).toBe('well');
  }
  expect(watched.look({ turn: 99, cpuMs: 99 * 60_000 + 30_000 })).toBe('interrupt');
  expect(watched.look({ turn: 100, cpuMs: 100 * 60_000 })).toBe('well');
  expect(watched.look({ turn: 100, cpuMs: 100 * 60_000 + 30_000 })).toBe('interrupt');
});
