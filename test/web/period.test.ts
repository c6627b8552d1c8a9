import { describe, expect, test } from 'vitest';
import { customRange, rangeOfDays, rangeQuery, rangeTitle } from '../../src/web/data/custom-range.ts';
import { customPeriod, periodOf, rangeIn, rangeNames } from '../../src/web/data/period.ts';

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

describe('a period of one’s own', () => {
  const now = Date.parse('2026-11-21T08:54:15Z');
  const inAddress = (since: string, until: string) => customRange(new URLSearchParams({ since, until }), now);

  test('is whole days of the zone, also when clocks change within it', () => {
    const range = rangeOfDays('2026-10-24', '2026-10-26', 'Europe/Berlin');
    expect(rangeQuery(range)).toEqual({
      since: '2026-10-23T22:00:00.000Z',
      until: '2026-10-26T23:00:00.000Z',
    });
    expect(rangeTitle(range, 'Europe/Berlin')).toBe('24 Oct – 26 Oct');
    expect(customPeriod(range, 'Europe/Berlin')).toMatchObject({
      ...rangeQuery(range),
      bucket: 'hour',
      before: '2026-10-20T21:00:00.000Z',
      title: 'period from 24 Oct to 26 Oct',
    });
  });

  test.each([
    ['2026-11-20T10:00:00Z', '2026-11-20T11:00:00Z', '15m', '20 Nov, 10:00 – 11:00'],
    ['2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z', '15m', '20 Nov'],
    ['2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z', 'day', '1 Oct – 31 Oct'],
    ['2025-11-01T00:00:00Z', '2026-11-01T00:00:00Z', 'week', '1 Nov – 31 Oct'],
    ['2020-11-01T00:00:00Z', '2026-11-01T00:00:00Z', 'month', '1 Nov – 31 Oct'],
  ])('from %s to %s is divided into %s', (since, until, bucket, title) => {
    const range = inAddress(since, until) ?? { since: 0, until: 0 };
    expect(customPeriod(range, 'UTC')).toMatchObject({ bucket });
    expect(rangeTitle(range, 'UTC')).toBe(title);
  });

  test('is none where the address has no times, no length, or such as the daemon refuses', () => {
    for (const [since, until] of [
      ['', ''],
      ['yesterday', '2026-11-20T00:00:00Z'],
      ['2026-11-20T00:00:00Z', '2026-11-20T00:00:00Z'],
      ['2026-11-21T00:00:00Z', '2026-11-20T00:00:00Z'],
      ['1999-01-01T00:00:00Z', '1999-02-01T00:00:00Z'],
      ['2030-01-01T00:00:00Z', '2030-02-01T00:00:00Z'],
    ] as const)
      expect(inAddress(since, until)).toBeUndefined();
    expect(inAddress('1999-01-01T00:00:00Z', '2099-01-01T00:00:00Z')).toEqual({
      since: Date.parse('2020-01-01T00:00:00Z'),
      until: now + 86_400_000,
    });
  });
});
