import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatUsd } from '../../src/shared/money/money.ts';
import {
  change,
  count,
  dollars,
  duration,
  percent,
  shortCount,
  sumOfUsd,
} from '../../src/web/data/figures.ts';
import { bucketLabel } from '../../src/web/data/moments.ts';
import { periodOf, rangeIn, rangeNames } from '../../src/web/data/period.ts';

test('amounts have cents, small ones two digits that count', () => {
  expect(['0', '0.0042', '0.00001234', '0.1', '31.2', '1204.5', '-3'].map(dollars)).toEqual([
    '$0',
    '$0.0042',
    '$0.000012',
    '$0.10',
    '$31.20',
    '$1,204.50',
    '−$3.00',
  ]);
});

test('counts, shares, durations and changes', () => {
  expect([count(8214), shortCount(8214), shortCount(12)]).toEqual(['8,214', '8.21K', '12']);
  expect(percent(0.0123)).toBe('1.2 %');
  expect([0.6, 413, 2_211, 59_960, 185_000].map(duration)).toEqual([
    '0.6 ms',
    '413 ms',
    '2.2 s',
    '1 min 0 s',
    '3 min 5 s',
  ]);
  expect([change(114, 100), change(50, 100), change(100, 100), change(1, 0)]).toEqual([
    '+14 %',
    '−50 %',
    '±0 %',
    undefined,
  ]);
});

test('sums of amounts are exact', () => {
  const nano = fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 });
  fc.assert(
    fc.property(fc.array(nano, { maxLength: 40 }), (amounts) => {
      const total = amounts.reduce((sum, amount) => sum + amount, 0);
      expect(sumOfUsd(amounts.map(formatUsd))).toBe(formatUsd(total));
    }),
  );
});

describe('a period', () => {
  const at = Date.parse('2026-11-21T08:54:15Z');

  test('consists of whole buckets up to now, and the one before is as long', () => {
    expect(periodOf('24h', at, 'UTC')).toMatchObject({
      before: '2026-11-19T09:00:00.000Z',
      since: '2026-11-20T09:00:00.000Z',
      until: '2026-11-21T09:00:00.000Z',
      bucket: '15m',
    });
    expect(periodOf('7d', at, 'UTC')).toMatchObject({ until: '2026-11-21T09:00:00.000Z', bucket: 'hour' });
  });

  test('of days begins at midnight in the zone, also when clocks change within it', () => {
    expect(periodOf('30d', at, 'Europe/Berlin')).toMatchObject({
      before: '2026-09-22T22:00:00.000Z',
      since: '2026-10-22T22:00:00.000Z',
      until: '2026-11-21T23:00:00.000Z',
      bucket: 'day',
    });
  });

  test('is one of those that can be chosen', () => {
    expect(rangeNames).toContain(rangeIn('7d'));
    expect(rangeIn('9y')).toBe('24h');
  });
});

test('buckets are named in the zone', () => {
  const hour = { start: '2026-11-21T13:00:00Z', end: '2026-11-21T14:00:00Z' };
  expect(bucketLabel(hour, 'hour', 'Asia/Kathmandu')).toBe('21 Nov, 18:45 – 19:45');
  const day = { start: '2026-11-20T23:00:00Z', end: '2026-11-21T23:00:00Z' };
  expect(bucketLabel(day, 'day', 'Europe/Berlin')).toBe('Sat 21 Nov');
  expect(bucketLabel(day, 'week', 'Europe/Berlin')).toBe('week of 21 Nov');
  expect(bucketLabel(day, 'month', 'Europe/Berlin')).toBe('November 2026');
});
