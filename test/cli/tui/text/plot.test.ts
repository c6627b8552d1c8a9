import { describe, expect, test } from 'vitest';
import { widthOf } from '../../../../src/cli/output/width.ts';
import { chartStyleOf } from '../../../../src/cli/tui/text/chart-style.ts';
import { barPlot, barsWidth, curvePlot } from '../../../../src/cli/tui/text/plot.ts';
import { shortName } from '../../../../src/cli/tui/text/short-name.ts';

const blocks = chartStyleOf({ TERM: 'linux' }, { hasColours: false });

describe('bars', () => {
  test('are as high as their numbers, with four dots a cell', () => {
    expect(barPlot([1, 2, 4, 8], { width: 2, height: 2 })).toEqual([' ⢸', '⣠⣿']);
  });

  test('every number above zero shows', () => {
    expect(barPlot([1, 1_000_000], { width: 1, height: 1 })).toEqual(['⣸']);
    expect(barPlot([0, 0], { width: 1, height: 1 })).toEqual([' ']);
  });

  test('more numbers than columns keep their peaks', () => {
    const numbers = Array.from({ length: 100 }, (_, at) => (at === 57 ? 9 : 1));
    const [top] = barPlot(numbers, { width: 10, height: 2 });
    expect(top).toMatch(/^ {5}\S {4}$/);
  });

  test('take half blocks where braille is missing', () => {
    expect(barPlot([0, 1, 2, 4], { width: 4, height: 2, style: blocks })).toEqual(['   █', ' ▄██']);
  });

  test.each([1, 3, 7, 24, 168, 400])('%i of them fit any width', (count) => {
    for (const width of [1, 5, 31, 80]) {
      const numbers = Array.from({ length: count }, (_, at) => at + 1);
      for (const line of barPlot(numbers, { width, height: 3 }))
        expect(widthOf(line)).toBeLessThanOrEqual(width);
      expect(barsWidth(count, width)).toBeLessThanOrEqual(width);
    }
  });
});

describe('curves', () => {
  test('go from the lowest to the highest line, with a gap where there is no value', () => {
    const [line] = curvePlot([{ values: [0, 10, null, 10, 0], colour: 'first' }], { width: 5, height: 1 });
    expect(line).toMatch(/^\S\S \S\S$/);
  });

  test('share a cell in the colour of the front one', () => {
    const style = chartStyleOf({ TERM: 'xterm' }, { hasColours: true });
    const curves = [
      { values: [1, 1], colour: 'first' as const },
      { values: [1, null], colour: 'second' as const },
    ];
    expect(curvePlot(curves, { width: 2, height: 1, style })).toEqual([
      '\u001b[33m⠈\u001b[0m\u001b[36m⠉\u001b[0m',
    ]);
  });

  test('are shades where braille is missing', () => {
    const curves = [
      { values: [1, 2], colour: 'first' as const },
      { values: [2, 4], colour: 'second' as const },
    ];
    expect(curvePlot(curves, { width: 2, height: 4, style: blocks })).toEqual([' ░', ' ░', '░█', '██']);
  });
});

describe('the style of charts', () => {
  test.each([
    [{ TERM: 'linux' }, 'blocks'],
    [{ TERM: 'xterm', LANG: 'de_DE.ISO-8859-1' }, 'blocks'],
    [{ TERM: 'xterm', LC_ALL: 'en_GB.utf8', LANG: 'C' }, 'braille'],
    [{ TERM: 'xterm' }, 'braille'],
  ])('%o has %s', (env, glyphs) => {
    expect(chartStyleOf(env, { hasColours: true }).glyphs).toBe(glyphs);
  });

  test.each([
    [{ COLORTERM: 'truecolor' }, '38;2;'],
    [{ TERM: 'xterm-256color' }, '38;5;'],
    [{ TERM: 'xterm' }, '36m'],
  ])('%o has colours %s', (env, code) => {
    expect(chartStyleOf(env, { hasColours: true }).paint('first', 'x')).toContain(`\u001b[${code}`);
    expect(chartStyleOf(env, { hasColours: false }).paint('first', 'x')).toBe('x');
  });
});

test.each([
  ['openai/gpt-5', 20, 'openai/gpt-5'],
  ['anthropic/claude-haiku-4-5', 20, '…/claude-haiku-4-5'],
  ['a-name-without-parts', 6, '…parts'],
  ['x', 0, '…'],
])('%s in %i cells is %s', (name, width, shown) => {
  expect(shortName(name, width)).toBe(shown);
});
