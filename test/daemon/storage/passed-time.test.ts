import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PassedTime, type Refusal, type SetBack } from '../../../src/daemon/storage/passed-time.ts';

const start = Date.UTC(2026, 10, 21, 8);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const yearMs = 366 * 24 * hourMs;

/** `pass` lets time pass, `put` sets the wall clock. Both return what has passed then. */
function place(lastSeen = start) {
  let now = start;
  let elapsed = 0;
  const noted: number[] = [];
  const trusted: number[] = [];
  const setBacks: SetBack[] = [];
  const refusals: Refusal[] = [];
  let failures = 0;
  const write = async <Data>(to: Data[], data: Data) => {
    if (failures > 0) {
      failures -= 1;
      throw new Error('the disk is full');
    }
    to.push(data);
  };
  const passed = new PassedTime({
    now: () => now,
    elapsed: () => elapsed,
    noted: lastSeen,
    note: (at) => write(noted, at).then(() => true),
    trust: (at) => write(trusted, at).then(() => true),
    setBack: (times) => write(setBacks, times),
    refuse: (refusal) => write(refusals, refusal),
  });
  return {
    passed,
    noted,
    trusted,
    setBacks,
    refusals,
    pass: (ms: number) => {
      elapsed += ms;
      now += ms;
      return passed.at();
    },
    put: (ms: number) => {
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
  const { passed, noted, pass } = place();
  expect(pass(1000)).toBe(start + 1000);
  expect(noted).toEqual([]);
  passed.noteExpiry('key_1', start + 500);
  passed.noteExpiry('key_1', start + 500);
  passed.noteExpiry('key_1', start + 2000);
  expect(noted).toEqual([start + 1000]);
  for (let second = 0; second < 120; second += 1) pass(1000);
  expect(noted).toHaveLength(3);
});

test('a time that could not be noted is noted later, however much later', async () => {
  const { noted, trusted, pass, fail } = place();
  fail();
  pass(minuteMs);
  await settled();
  expect(noted).toEqual([]);
  pass(hourMs);
  expect(trusted).toEqual([start + hourMs + minuteMs]);
});

test('when the clock is set back, it waits until what has expired is stored as such', async () => {
  const { setBacks, pass, put, passed, now } = place();
  const seen = pass(2 * hourMs);
  expect(put(-12 * hourMs)).toBe(seen);
  expect(pass(1000)).toBe(seen);
  await settled();
  expect(setBacks).toEqual([{ seen, at: start - 10 * hourMs }]);
  expect(passed.at()).toBe(now());
});

test('a clock that is set back by seconds is waited for without a write', async () => {
  const { setBacks, pass, put } = place();
  const seen = pass(hourMs);
  expect(put(-5000)).toBe(seen);
  expect(pass(6000)).toBe(seen + 1000);
  await settled();
  expect(setBacks).toEqual([]);
});

test('it stays where it was while that cannot be stored', async () => {
  const { setBacks, pass, put, passed, now, fail } = place();
  const seen = pass(hourMs);
  await settled();
  fail();
  put(-hourMs);
  await settled();
  expect(passed.at()).toBe(seen);
  await settled();
  expect(setBacks).toHaveLength(1);
  expect(passed.at()).toBe(now());
});

for (const [name, ahead, lastsMs] of [
  ['six minutes', 6 * minuteMs, 10 * minuteMs],
  ['30 days', 30 * 24 * hourMs, 10 * minuteMs],
  ['two years', 2 * yearMs, hourMs],
] as const) {
  test(`a clock that is put forward by ${name} ends nothing before it has lasted`, async () => {
    const { noted, trusted, setBacks, pass, put, passed } = place();
    expect(put(ahead)).toBe(start + ahead);
    expect(passed.sure()).toBe(start);
    pass(0.9 * lastsMs);
    expect(passed.sure()).toBe(start + 0.9 * lastsMs);
    expect(put(-ahead)).toBe(start + 0.9 * lastsMs);
    await settled();
    expect(setBacks).toEqual([]);
    expect([...noted, ...trusted.splice(0)]).toEqual([start + 0.9 * lastsMs]);
    put(ahead);
    const seen = pass(lastsMs);
    expect(trusted).toEqual([seen]);
    expect(passed.sure()).toBe(seen);
    put(-ahead);
    await settled();
    expect(setBacks).toEqual([{ seen, at: seen - ahead }]);
  });
}

test('after a start, the clock is compared with the latest time that was noted', () => {
  const { trusted, pass, passed } = place(start - 30 * 24 * hourMs);
  pass(1000);
  expect(passed.sure()).toBe(start - 30 * 24 * hourMs + 1000);
  const at = pass(10 * minuteMs);
  expect(trusted).toEqual([at]);
  expect(passed.sure()).toBe(at);
});

test('a clock that jumps about is not believed', () => {
  const { trusted, pass, put } = place();
  for (let turn = 0; turn < 10; turn += 1) {
    put(hourMs);
    pass(9 * minuteMs);
  }
  expect(trusted).toEqual([]);
});

test('a credential that is refused at a doubtful time is stored as expired, once', async () => {
  const { refusals, noted, put, passed, fail } = place();
  const [expiry, failing] = [start + hourMs, start + 2 * hourMs];
  put(30 * 24 * hourMs);
  for (let call = 0; call < 100; call += 1) passed.noteExpiry('key_1', expiry);
  await settled();
  expect(refusals).toEqual([{ id: 'key_1', expiry, at: start }]);
  fail();
  passed.noteExpiry('key_2', failing);
  await settled();
  passed.noteExpiry('key_2', failing);
  await settled();
  expect(refusals).toHaveLength(2);
  expect(noted).toEqual([]);
});

test('a clock that is ahead by more than a year has nothing stored', async () => {
  const { refusals, put, passed } = place();
  put(2 * yearMs);
  passed.noteExpiry('key_1', start + hourMs);
  await settled();
  expect(refusals).toEqual([]);
});

test('what was refused once is never found valid again, however the clock is set', async () => {
  const step = fc.record({
    ms: fc.integer({ min: -30 * hourMs, max: 30 * hourMs }),
    passes: fc.boolean(),
    asks: fc.boolean(),
    waits: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 0, max: 60 * hourMs }),
      async (steps, ms) => {
        const { setBacks, refusals, pass, put, passed } = place();
        let expiry = start + ms;
        let wasRefused = false;
        for (const { ms, passes, asks, waits } of steps) {
          const at = passes && ms > 0 ? pass(ms) : put(ms);
          if (wasRefused) expect(expiry).toBeLessThanOrEqual(at);
          if (asks && expiry <= at) {
            wasRefused = true;
            passed.noteExpiry('key_1', expiry);
          }
          if (waits) await settled();
          // What the writes do to an expiry, in their order.
          for (const refusal of refusals.splice(0)) if (expiry === refusal.expiry) expiry = refusal.at;
          for (const { seen, at: to } of setBacks.splice(0)) if (expiry > to && expiry <= seen) expiry = to;
        }
      },
    ),
    { numRuns: 200 },
  );
});
