import fc from 'fast-check';
import { expect, test } from 'vitest';
import { briefCount, briefDollars } from '../../../src/cli/output/amount.ts';

test.each([
  ['0', '$0'],
  ['0.000000000', '$0'],
  ['0.0003375', '$0.000338'],
  ['0.5', '$0.50'],
  ['12.5', '$12.50'],
  ['0.999999', '$1.00'],
  ['0.0000000012', '<$0.00001'],
  [null, 'unknown'],
])('briefDollars(%s) is %s', (usd, shown) => {
  expect(briefDollars(usd)).toBe(shown);
});

test('amounts and counts fit their columns', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 9_999_000_000_000 }),
      fc.integer({ min: 0, max: 99_000_000 }),
      (nano, tokens) => {
        expect(briefDollars((nano / 1e9).toFixed(9)).length).toBeLessThanOrEqual(9);
        expect(briefCount(tokens).length).toBeLessThanOrEqual(5);
      },
    ),
  );
});
