import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerPrinter } from '../../../src/cli/output/answer-text/answer-printer.ts';
import type { AnswerText } from '../../../src/cli/output/answer-text/answer-text.ts';
import { MarkdownText } from '../../../src/cli/output/answer-text/markdown-text.ts';
import { PlainText } from '../../../src/cli/output/answer-text/plain-text.ts';
import { painter } from '../../../src/cli/output/style.ts';
import { paintedWidth, widthOf } from '../../../src/cli/output/width.ts';

const plain = painter(false);

/** The lines of a text that arrives in pieces of a size. */
function linesOf(text: AnswerText, source: string, { width = 40, size = 3 } = {}): string[] {
  const lines: string[] = [];
  for (let at = 0; at < source.length; at += size)
    lines.push(...text.push(source.slice(at, at + size), width));
  return [...lines, ...text.end()];
}

const markdown = (source: string, options = {}) => linesOf(new MarkdownText(plain), source, options);

describe('plain text', () => {
  test('is printed completely, in lines that fit', () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', '漢') }));
    fc.assert(
      fc.property(pieces, fc.integer({ min: 2, max: 20 }), (texts, width) => {
        const text = new PlainText();
        const lines: string[] = [];
        for (const piece of texts) {
          lines.push(...text.push(piece, width));
          for (const line of text.growing) expect(widthOf(line)).toBeLessThanOrEqual(width);
        }
        const all = [...lines, ...text.end()];
        for (const line of all) expect(widthOf(line)).toBeLessThanOrEqual(width);
        expect(all.join('').replaceAll(' ', '')).toBe(texts.join('').replace(/[ \n]/g, ''));
      }),
    );
  });

  test('has its control characters made visible', () => {
    expect(new PlainText().push('a\u001b[2Jb\n', 20)).toEqual(['a␛[2Jb']);
  });
});

describe('Markdown', () => {
  test('is rendered block by block, however it arrives', () => {
    const source = [
      '# Title',
      'Some **bold** text and `code` that is wrapped at words.\nA line of its own, ~5 to ~10.',
      '- one\n- two\n  1. nested\n  2. more',
      '3. loose\n\n   ```js\n   const a = 1;\n   ```\n\n4. next',
      '> quoted\n> twice',
      '| name | count |\n|---|---:|\n| 漢字 | 1 |',
      '---',
      '```py\ndef f():\n    return 1\n```',
      'Fish &amp; chips, <b>HTML</b>, [a link](https://x.example) and https://y.example',
    ].join('\n\n');
    const expected = [
      '# Title',
      '',
      'Some bold text and code that is wrapped',
      'at words.',
      'A line of its own, ~5 to ~10.',
      '',
      '• one',
      '• two',
      '  1. nested',
      '  2. more',
      '',
      '3. loose',
      '',
      '     const a = 1;',
      '',
      '4. next',
      '',
      '│ quoted',
      '│ twice',
      '',
      'name  count',
      '────  ─────',
      '漢字      1',
      '',
      '─'.repeat(40),
      '',
      '  def f():',
      '      return 1',
      '',
      'Fish & chips, <b>HTML</b>, a link',
      '(https://x.example) and',
      'https://y.example',
    ];
    for (const size of [1, 3, 1000]) expect(markdown(source, { size })).toEqual(expected);
  });

  test('shows a table that does not fit as a list of its cells', () => {
    expect(
      markdown('| first | second |\n|---|---|\n| a long cell | another cell |\n', { width: 20 }),
    ).toEqual(['first: a long cell', 'second: another cell']);
  });

  test('styles nested text, and closes each style on its line', () => {
    const styled = linesOf(new MarkdownText(painter(true)), '**bold *both* bold** `code`', { width: 11 });
    expect(styled).toEqual([
      '\u001b[1mbold \u001b[0m\u001b[1m\u001b[3mboth\u001b[0m\u001b[0m',
      '\u001b[1mbold\u001b[0m \u001b[36mcode\u001b[0m',
    ]);
  });

  test('keeps all text, in lines that fit, and cannot style or move the cursor itself', () => {
    const words = [
      '*',
      '**',
      '`',
      '```',
      '- ',
      '1. ',
      '# ',
      '> ',
      '|',
      '\n',
      '\n\n',
      ' ',
      'ab',
      '漢',
      '\u001b[2J',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words)), fc.integer({ min: 12, max: 30 }), (pieces, width) => {
        const text = new MarkdownText(plain);
        const lines: string[] = [];
        for (const piece of pieces) lines.push(...text.push(piece, width));
        lines.push(...text.end());
        for (const line of lines) expect(paintedWidth(line)).toBeLessThanOrEqual(Math.max(width, 40));
        const shown = lines.join('');
        expect(shown).not.toContain('\u001b');
        const count = (all: string, letter: string) => all.split(letter).length;
        if (!pieces.some((piece) => piece.startsWith('`') || piece === '|'))
          for (const letter of ['a', '漢']) expect(count(shown, letter)).toBe(count(pieces.join(''), letter));
      }),
    );
  });

  test('returns a long block of code line by line', () => {
    const text = new MarkdownText(plain);
    const code = Array.from({ length: 2000 }, (_, at) => `line ${at}`);
    const lines = text.push('```js\n', 40);
    for (const line of code) lines.push(...text.push(`${line}\n`, 40));
    expect(lines.length).toBeGreaterThan(1000);
    expect(text.growing.length).toBeLessThan(1000);
    lines.push(...text.push('```\nThe end.', 40), ...text.end());
    expect(lines).toEqual([...code.map((line) => `  ${line}`), '', 'The end.']);
  });
});

/** A terminal that understands what the printer sends: text, line ends, cursor up and erase below. */
function fakeTerminal(columns: number) {
  const screen = [''];
  let [row, written] = [0, ''];
  const write = (text: string) => {
    written += text;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what the printer sends.
    for (const [piece, up] of text.matchAll(/\u001b\[(\d+)A|\u001b\[J|\r|\n|[^\u001b\r\n]+/g)) {
      if (up !== undefined) row -= Number(up);
      else if (piece === '\u001b[J') screen.splice(row, Number.POSITIVE_INFINITY, '');
      else if (piece === '\n') {
        row += 1;
        screen[row] ??= '';
      } else if (piece !== '\r') screen[row] += piece;
    }
  };
  const io = { stdout: { isTty: true, write }, columns: () => columns, rows: () => 24 };
  return { io, screen, written: () => written };
}

describe('the printer', () => {
  test('rewrites what changes, and leaves the same as the whole text at once', async () => {
    const source =
      'A paragraph with **bold** text that is wrapped.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- x\n- y\n';
    for (const isMarkdown of [true, false]) {
      const terminal = fakeTerminal(30);
      const printer = await answerPrinter(terminal.io, { markdown: isMarkdown, paint: plain });
      for (const character of source) printer.write(character);
      printer.end();
      const text = isMarkdown ? new MarkdownText(plain) : new PlainText();
      expect(terminal.screen).toEqual([...linesOf(text, source, { width: 29, size: 1000 }), '']);
    }
  });

  test('only appends while a line grows', async () => {
    const terminal = fakeTerminal(80);
    const printer = await answerPrinter(terminal.io, { markdown: true, paint: plain });
    for (const word of ['one', ' two', ' three']) printer.write(word);
    printer.end();
    expect(terminal.written()).toBe('one two three\n');
  });

  test('passes every byte on to a pipe, with a line end after the last line', async () => {
    let written = '';
    const stdout = { isTty: false, write: (text: string) => (written += text) };
    const printer = await answerPrinter(
      { stdout, columns: () => 10, rows: () => 5 },
      { markdown: true, paint: plain },
    );
    const source = '# Title  \n\n**bold** text that is longer than the terminal is wide\u001b[1m';
    for (const character of source) printer.write(character);
    printer.end();
    expect(written).toBe(`${source}\n`);
  });
});
