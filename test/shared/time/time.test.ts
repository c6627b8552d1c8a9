import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoTime, parseTime, utcDay } from '../../../src/shared/time/time.ts';

const anyTime = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });

test('formatted times can be parsed', () => {
  fc.assert(
    fc.property(anyTime, (ms) => {
      expect(parseTime(isoTime(ms))).toBe(ms);
      expect(parseTime(utcDay(ms))).toBe(ms - (ms % 86_400_000));
    }),
  );
});

test.each([
  ['2026-02-28T08:00+02:00', '2026-02-28T06:00:00.000Z'],
  ['2026-03-01T00:30:00-05:30', '2026-03-01T06:00:00.000Z'],
  ['2026-03-01T00:30:00.123456+01:00', '2026-02-28T23:30:00.123Z'],
  ['2026-03-01t00:30:00z', '2026-03-01T00:30:00.000Z'],
])('%s is %s', (text, utc) => {
  expect(isoTime(parseTime(text) ?? 0)).toBe(utc);
});

test.each([
  '',
  'yesterday',
  '2026',
  '2026-02-30',
  '2026-13-01',
  '2026-02-28T24:00Z',
  '2026-02-28T08:00',
  '2026-02-28T08:00+0200',
  '2026-02-28T08:00+25:00',
  '2026-02-28T08:61Z',
])('%j is not a time', (text) => {
  expect(parseTime(text)).toBeUndefined();
});
