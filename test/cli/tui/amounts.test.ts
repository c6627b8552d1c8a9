import fc from 'fast-check';
import { expect, test } from 'vitest';
import { briefCount, briefDollars } from '../../../src/cli/output/amount.ts';
import { widthOf } from '../../../src/cli/output/width.ts';
import { broken } from '../../../src/cli/tui/text/cells.ts';

test.each([
  ['0', '$0'],
  ['0.000000000', '$0'],
  ['0.0003375', '$0.000338'],
  ['0.5', '$0.50'],
  ['12.5', '$12.50'],
  ['0.999999', '$1.00'],
  ['0.0000000012', '<$0.00001'],
  [null, 'unknown'],
])('%s dollars are briefly %s', (usd, shown) => {
  expect(briefDollars(usd)).toBe(shown);
});

test('amounts and counts are never wider than their columns', () => {
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

test('a line is broken into lines that fit, between words, and nothing but blanks is lost', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '漢'), maxLength: 80 });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 20 }), (line, width) => {
      const lines = broken(line, width);
      for (const one of lines) expect(widthOf(one)).toBeLessThanOrEqual(width);
      expect(lines.join('').replaceAll(' ', '')).toBe(line.replaceAll(' ', ''));
    }),
  );
  expect(broken('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
  expect(broken('    indentedlongword here', 10)).toEqual(['    indent', 'edlongword', 'here']);
});
