import { describe, expect, test } from 'vitest';
import { HangJudge } from '../../../src/daemon/worker-threads/watch-main-thread.ts';

const judge = () => new HangJudge(30_000, { turn: 7, cpuMs: 500 });

describe('a main thread that made no turn', () => {
  test('is interrupted once, and killed when that does not help', () => {
    const watched = judge();
    const used = [5, 10, 15, 20, 25, 29.999, 30, 35, 40, 44.999, 45];
    const verdicts = used.map((seconds) => watched.look({ turn: 7, cpuMs: 500 + seconds * 1_000 }));
    expect(verdicts).toEqual([...Array(6).fill('well'), 'interrupt', 'well', 'well', 'well', 'kill']);
  });

  test('is left alone for six looks, as other threads can use any CPU meanwhile', () => {
    const watched = judge();
    const verdicts = Array.from({ length: 9 }, (_, at) =>
      watched.look({ turn: 7, cpuMs: 80_000 * (at + 1) }),
    );
    expect(verdicts).toEqual([...Array(5).fill('well'), 'interrupt', 'well', 'well', 'kill']);
  });
});

test('a process that gets no CPU, as while it is suspended, is left alone however long that lasts', () => {
  const watched = judge();
  for (let look = 0; look < 1_000; look += 1) expect(watched.look({ turn: 7, cpuMs: 30_499 })).toBe('well');
});

test('a turn clears what was used before, however much it was', () => {
  const watched = judge();
  const looks = (turn: number, cpuMs: number) =>
    Array.from({ length: 7 }, () => watched.look({ turn, cpuMs })).filter((verdict) => verdict !== 'well');
  for (let turn = 8; turn < 100; turn += 1) {
    expect(looks(turn, turn * 60_000)).toEqual([]);
    expect(looks(turn, turn * 60_000 + 29_999)).toEqual([]);
  }
  expect(looks(99, 99 * 60_000 + 30_000)).toEqual(['interrupt']);
  expect(looks(100, 100 * 60_000)).toEqual([]);
  expect(looks(100, 100 * 60_000 + 30_000)).toEqual(['interrupt']);
});
