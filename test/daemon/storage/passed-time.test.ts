import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PassedTime, type SetBack } from '../../../src/daemon/storage/passed-time.ts';

const start = Date.UTC(2026, 10, 21, 8);
const hourMs = 3_600_000;
const yearMs = 366 * 24 * hourMs;

function place() {
  let now = start;
  const noted: number[] = [];
  const setBacks: SetBack[] = [];
  let failures = 0;
  const passed = new PassedTime({
    now: () => now,
    noted: start,
    note: (at) => noted.push(at),
    trust: (at) => noted.push(at),
    expire: async (times) => {
      if (failures > 0) {
        failures -= 1;
        throw new Error('the disk is full');
      }
      setBacks.push(times);
    },
  });
  return {
    passed,
    noted,
    setBacks,
    go: (ms: number) => {
      now += ms;
      return passed.at();
    },
    now: () => now,
    fail: () => {
      failures = 1;
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('it is the clock, and is noted every minute of use and at an expiry', () => {
  const { passed, noted, go } = place();
  expect(go(1000)).toBe(start + 1000);
  expect(noted).toEqual([]);
  passed.noteExpiry(start + 500);
  passed.noteExpiry(start + 500);
  passed.noteExpiry(start + 2000);
  expect(noted).toEqual([start + 1000]);
  for (let second = 0; second < 120; second += 1) go(1000);
  expect(noted).toHaveLength(3);
});

test('when the clock is set back, it waits until what has expired is stored as such', async () => {
  const { noted, setBacks, go, passed, now } = place();
  const seen = go(2 * hourMs);
  expect(go(-12 * hourMs)).toBe(seen);
  expect(go(1000)).toBe(seen);
  await settled();
  expect(setBacks).toEqual([{ seen, at: start - 10 * hourMs }]);
  expect(noted.at(-1)).toBe(seen);
  expect(passed.at()).toBe(now());
});

test('it stays where it was while that cannot be stored', async () => {
  const { setBacks, go, passed, now, fail } = place();
  const seen = go(hourMs);
  fail();
  go(-hourMs);
  await settled();
  expect(passed.at()).toBe(seen);
  await settled();
  expect(setBacks).toHaveLength(1);
  expect(passed.at()).toBe(now());
});

test('a doubtful time expires nothing for good, unless the clock keeps it for an hour', async () => {
  const { noted, setBacks, go } = place();
  expect(go(2 * yearMs)).toBe(start + 2 * yearMs);
  go(0.9 * hourMs);
  expect(go(-2 * yearMs)).toBe(start + 0.9 * hourMs);
  await settled();
  expect(setBacks).toEqual([]);
  go(2 * yearMs);
  const seen = go(hourMs);
  expect(noted.at(-1)).toBe(seen);
  go(-hourMs);
  await settled();
  expect(setBacks).toHaveLength(1);
});

test('what has expired once is never found valid again, however the clock is set', async () => {
  const jumps = fc.array(fc.integer({ min: -30 * hourMs, max: 30 * hourMs }), {
    minLength: 1,
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(
      jumps,
      fc.integer({ min: 0, max: 60 * hourMs }),
      fc.boolean(),
      async (steps, ms, waits) => {
        const { setBacks, go } = place();
        let expiry = start + ms;
        let hasExpired = false;
        for (const step of steps) {
          const at = go(step);
          if (hasExpired) expect(expiry).toBeLessThanOrEqual(at);
          hasExpired = expiry <= at;
          if (waits) await settled();
          // What the write does to an expiry.
          for (const { seen, at: to } of setBacks.splice(0)) if (expiry > to && expiry <= seen) expiry = to;
        }
      },
    ),
    { numRuns: 60 },
  );
});
