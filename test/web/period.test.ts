import { describe, expect, test } from 'vitest';
import { periodOf, rangeIn, rangeNames } from '../../src/web/data/period.ts';

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
