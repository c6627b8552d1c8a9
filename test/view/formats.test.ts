import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatUsd } from '../../src/shared/money/money.ts';
import { alertValue } from '../../src/view/alerts.ts';
import { ago, duration } from '../../src/view/durations.ts';
import { briefDollars, dollars, sumOfUsd } from '../../src/view/money.ts';
import { briefCount, briefRate, change, count, percent, speed, tokenRate } from '../../src/view/numbers.ts';
import {
  bucketLabel,
  clock,
  clockTime,
  dayAndClock,
  exactTime,
  plannedTime,
  shortDay,
  shortTime,
  sortableTime,
} from '../../src/view/times.ts';

/** The only forms of numbers and times that the CLI, the TUI and the page have. */

describe('amounts', () => {
  test.each([
    ['0', '$0'],
    ['0.000000000', '$0'],
    ['0.0003375', '$0.000338'],
    ['0.000045', '$0.000045'],
    ['0.0312', '$0.0312'],
    ['0.5', '$0.50'],
    ['12.5', '$12.50'],
    ['1204.5', '$1,204.50'],
    ['0.999999', '$1.00'],
    ['0.0000000012', '<$0.00001'],
    ['-3', '-$3.00'],
    [31.2, '$31.20'],
    [null, 'unknown'],
  ])('%s is %s in brief', (usd, shown) => {
    expect(briefDollars(usd)).toBe(shown);
  });

  test('are exact, or unknown', () => {
    expect([dollars('0.000042'), dollars('-1'), dollars(null)]).toEqual(['$0.000042', '-$1', 'unknown']);
  });

  test('have exact sums', () => {
    const nano = fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 });
    fc.assert(
      fc.property(fc.array(nano, { maxLength: 40 }), (amounts) => {
        const total = amounts.reduce((sum, amount) => sum + amount, 0);
        expect(sumOfUsd(amounts.map(formatUsd))).toBe(formatUsd(total));
      }),
    );
  });
});

test('brief amounts, counts and durations below an hour fit their columns', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 9_999_000_000_000 }),
      fc.integer({ min: 0, max: 99_000_000_000 }),
      fc.double({ min: 0, max: 59_000, noNaN: true }),
      (nano, tokens, ms) => {
        expect(briefDollars((nano / 1e9).toFixed(9)).length).toBeLessThanOrEqual(9);
        expect(briefCount(tokens).length).toBeLessThanOrEqual(5);
        expect(duration(ms).length).toBeLessThanOrEqual(7);
      },
    ),
  );
});

test('counts and rates', () => {
  expect([0, 999, 1_234_567].map(count)).toEqual(['0', '999', '1,234,567']);
  expect([0.5, 1204, 44_210, 44_000, 99_960, 131_072, 1_310_000, 999_600, 2.5e9].map(briefCount)).toEqual([
    '0.5',
    '1,204',
    '44.2k',
    '44k',
    '100k',
    '131k',
    '1.3M',
    '1M',
    '2.5B',
  ]);
  expect([briefRate(8.36), briefRate(71.4), speed(71.4), speed(undefined)]).toEqual([
    '8.4',
    '71',
    '71 tok/s',
    '–',
  ]);
});

test('the rate of an answer is that after its first token', () => {
  const timings = { first_token_ms: 1000, total_ms: 2000 };
  expect(tokenRate({ tokens: { output: 71 }, timings })).toBe(71);
  expect(
    tokenRate({ tokens: { output: 71 }, timings: { ...timings, first_token_ms: null } }),
  ).toBeUndefined();
});

test('shares and changes', () => {
  expect([0, 0.0004, 0.0123, 0.435, 0.997, 1].map(percent)).toEqual([
    '0 %',
    '<0.1 %',
    '1.2 %',
    '43.5 %',
    '99.7 %',
    '100 %',
  ]);
  expect([change(114, 100), change(50, 100), change(100, 100), change(1, 0)]).toEqual([
    '+14 %',
    '−50 %',
    '±0 %',
    undefined,
  ]);
});

test.each([
  [0, '0 ms'],
  [0.01, '<0.1 ms'],
  [0.4, '0.4 ms'],
  [812.4, '812 ms'],
  [999.6, '1.00 s'],
  [1_944, '1.94 s'],
  [12_400, '12.4 s'],
  [59_960, '1 min'],
  [125_000, '2 min 5 s'],
  [7_500_000, '2 h 5 min'],
  [86_400_000, '1 d'],
  [3e8, '3 d 11 h'],
  [null, '–'],
])('%s ms are %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test.each([
  ['2026-11-21T08:54:15Z', 'just now'],
  ['2026-11-21T08:53:00Z', '1 min ago'],
  ['2026-11-20T08:54:15Z', '1 day ago'],
  ['2025-01-21T08:54:15Z', '1 year ago'],
  ['2026-11-21T11:00:00Z', 'in 2 h'],
  [Date.parse('2026-11-21T08:51:15Z'), '3 min ago'],
  [null, 'never'],
])('%s is %s', (at, words) => {
  expect(ago(at, Date.parse('2026-11-21T08:54:20Z'))).toBe(words);
});

describe('times', () => {
  const at = '2026-11-23T07:54:15.250Z';
  const zone = 'Europe/Berlin';

  test('are in the zone, and what is no time stays as it is', () => {
    expect(
      [clock, clockTime, dayAndClock, exactTime, plannedTime, sortableTime].map((f) => f(at, zone)),
    ).toEqual([
      '08:54',
      '08:54:15',
      '23 Nov, 08:54',
      '23 Nov 2026, 08:54:15.250 CET',
      'Mon 23 Nov 2026, 08:54 CET',
      '2026-11-23 08:54:15',
    ]);
    expect(clockTime('soon', zone)).toBe('soon');
  });

  test('without a zone are in that of the machine', () => {
    expect(sortableTime(new Date(2026, 0, 3, 8, 5, 9).toISOString())).toBe('2026-01-03 08:05:09');
  });

  test.each([
    ['2026-11-23T20:00:00Z', '08:54:15', undefined],
    ['2026-12-01T20:00:00Z', '23 Nov, 08:54:15', '23 Nov'],
    ['2027-01-01T20:00:00Z', '23 Nov 2026, 08:54:15', '23 Nov 2026'],
  ])('at %s have as much of the date as is needed', (now, time, date) => {
    expect(shortTime(at, Date.parse(now), zone)).toBe(time);
    expect(shortDay(at, Date.parse(now), zone)).toBe(date);
  });

  test('of buckets are named in the zone', () => {
    const hour = { start: '2026-11-21T13:00:00Z', end: '2026-11-21T14:00:00Z' };
    expect(bucketLabel(hour, 'hour', 'Asia/Kathmandu')).toBe('21 Nov, 18:45 – 19:45');
    const day = { start: '2026-11-20T23:00:00Z', end: '2026-11-21T23:00:00Z' };
    expect(bucketLabel(day, 'day', 'Europe/Berlin')).toBe('Sat 21 Nov');
    expect(bucketLabel(day, 'week', 'Europe/Berlin')).toBe('week of 21 Nov');
    expect(bucketLabel(day, 'month', 'Europe/Berlin')).toBe('November 2026');
  });
});

test('values of alerts have their unit', () => {
  const shown = [
    alertValue('5', 'usd'),
    alertValue('5', 'percent'),
    alertValue('8000', 'ms'),
    alertValue('12', 'calls'),
    alertValue(null, 'usd'),
  ];
  expect(shown).toEqual(['$5', '5 %', '8 s', '12 calls', '–']);
});
