import fc from 'fast-check';
import { expect, test } from 'vitest';
import { painter } from '../../../src/cli/output/style.ts';
import { widthOf } from '../../../src/cli/output/width.ts';
import { bar, gauge, sparkline } from '../../../src/cli/tui/text/bar.ts';
import { broken } from '../../../src/cli/tui/text/cells.ts';
import { fitPainted, paintedWidth } from '../../../src/cli/tui/text/painted.ts';

const paint = painter(true);

test('a painted line is cut and filled to exactly its width, and every style is ended', () => {
  const part = fc.record({
    text: fc.string({ unit: fc.constantFrom('a', ' ', '漢', '…') }),
    isBold: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(part), fc.integer({ min: 4, max: 40 }), (parts, width) => {
      const line = parts.map(({ text, isBold }) => paint(isBold ? 'bold' : undefined, text)).join('');
      const fitted = fitPainted(line, width);
      // A wide character that is cut in two leaves a blank.
      expect(paintedWidth(fitted)).toBe(width);
      expect(fitted.lastIndexOf('\u001b[1m')).toBeLessThanOrEqual(
        Math.max(0, fitted.lastIndexOf('\u001b[0m')),
      );
    }),
  );
});

test('a text is broken into lines that fit and lose no word', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b', ' ') }),
      fc.integer({ min: 1, max: 20 }),
      (text, width) => {
        const lines = broken(text, width);
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      },
    ),
  );
});

test('bars show what is used at all, and are full only when all is used', () => {
  expect([0, 0.001, 0.5, 0.999, 1, 7].map((part) => bar(part, 4))).toEqual([
    '░░░░',
    '█░░░',
    '██░░',
    '███░',
    '████',
    '████',
  ]);
  expect(gauge(0.25, 20, { isPlain: false })).toBe('███░░░░░░░░░░   25 %');
  expect(gauge(0.25, 20, { isPlain: true })).toBe('25 %');
});

test('a sparkline has a column for each number; none is a dot', () => {
  expect(sparkline([0, 1, 4, 8])).toBe('·▁▄█');
});
