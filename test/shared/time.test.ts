import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoTime, parseTime, utcDay } from '../../src/shared/time.ts';

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
  '',
  'yesterday',
  '2026',
  '2026-02-30',
  '2026-13-01',
  '2026-02-28T24:00Z',
  '2026-02-28T08:00',
  '2026-02-28T08:00+02:00',
  '2026-02-28T08:61Z',
])('%j is not a time', (text) => {
  expect(parseTime(text)).toBeUndefined();
});
