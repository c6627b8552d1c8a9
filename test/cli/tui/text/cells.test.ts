import fc from 'fast-check';
import { expect, test } from 'vitest';
import { painter } from '../../../../src/cli/output/style.ts';
import { cutToWidth, paintedWidth, widthOf } from '../../../../src/cli/output/width.ts';
import { wrapLine } from '../../../../src/cli/output/wrap-line.ts';
import { promptLines } from '../../../../src/cli/tui/chat/prompt.ts';
import { fitPainted } from '../../../../src/cli/tui/text/cells.ts';
import { bar, gauge, sparkline } from '../../../../src/cli/tui/text/charts.ts';
import { editWindow } from '../../../../src/cli/tui/text/edit-window.ts';
import { editOf } from '../../../../src/cli/tui/text/line-edit.ts';
import { shortName } from '../../../../src/cli/tui/text/short-name.ts';

const paint = painter(true);
/** Some of several characters, which are not to be parted. */
const wide = ['漢', '😀', '👩‍👩‍👧', '🇩🇪', '❤️', 'e\u0301'];
const segmenter = new Intl.Segmenter();
const graphemes = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment);

const pieces = [
  ['cutToWidth', (text: string, width: number) => [cutToWidth(text, width)]],
  ['fitPainted', (text: string, width: number) => [fitPainted(text, width).trimEnd()]],
  ['shortName', (text: string, width: number) => [shortName(text, width)]],
  ['editWindow', (text: string, width: number) => [editWindow(editOf(text), width).text]],
  ['wrapLine', wrapLine],
  ['promptLines', (text: string, width: number) => lines(text, width).map((line) => line.slice(2))],
] as const;

function lines(text: string, width: number): string[] {
  return promptLines(editOf(text), { width: width + 3, linesMax: 100 }).lines;
}

test.each(pieces)('%s parts a text only between graphemes, into what fits', (_name, piecesOf) => {
  const text = fc.string({ unit: fc.constantFrom('a', ...wide), minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 20 }), (whole, width) => {
      const all = graphemes(whole);
      for (const piece of piecesOf(whole, width)) {
        expect(widthOf(piece)).toBeLessThanOrEqual(width);
        expect([...all, '…']).toEqual(expect.arrayContaining(graphemes(piece)));
      }
    }),
  );
});

test('fitPainted cuts or pads to exactly the width and closes every style', () => {
  const part = fc.record({
    text: fc.string({ unit: fc.constantFrom('a', ' ', '…', ...wide) }),
    isBold: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(part), fc.integer({ min: 4, max: 40 }), (parts, width) => {
      const line = parts.map(({ text, isBold }) => paint(isBold ? 'bold' : undefined, text)).join('');
      const fitted = fitPainted(line, width);
      // Half of a wide character becomes a blank.
      expect(paintedWidth(fitted)).toBe(width);
      expect(fitted.lastIndexOf('\u001b[1m')).toBeLessThanOrEqual(
        Math.max(0, fitted.lastIndexOf('\u001b[0m')),
      );
    }),
  );
});

test('a line wraps between words if possible, and loses only blanks', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', ...wide), maxLength: 80 });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 20 }), (line, width) => {
      const lines = wrapLine(line, width);
      for (const one of lines) expect(widthOf(one)).toBeLessThanOrEqual(width);
      expect(lines.join('').replaceAll(' ', '')).toBe(line.replaceAll(' ', ''));
    }),
  );
  expect(wrapLine('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
  expect(wrapLine('    indentedlongword here', 10)).toEqual(['    indent', 'edlongword', 'here']);
});

test('a bar shows any use, and is full only at 100 %', () => {
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

test('a sparkline has a column per number; zero is a dot', () => {
  expect(sparkline([0, 1, 4, 8])).toBe('·▁▄█');
});
