import { visible } from '../../output/visible.ts';
import { cutToWidth, widthOf } from '../../output/width.ts';

/** Cuts or pads a text to exactly `width` cells. */
export function fitCell(
  text: string,
  width: number,
  { align }: { align?: 'right' | undefined } = {},
): string {
  if (width <= 0) return '';
  const cut = cutToWidth(text, width);
  const blank = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return align === 'right' ? blank + cut : cut + blank;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the codes that the painter writes.
const styleCode = /\u001b\[[0-9;]*m/g;
const styleEnd = '\u001b[0m';

/** The width of a line that may contain styles. */
export function paintedWidth(line: string): number {
  return widthOf(line.replace(styleCode, ''));
}

/** Cuts or pads a line that may contain styles to exactly `width` cells. A style that is cut off is closed. */
export function fitPainted(line: string, width: number): string {
  const lineWidth = paintedWidth(line);
  if (lineWidth <= width) return line + ' '.repeat(width - lineWidth);
  let room = width - 1;
  let kept = '';
  let at = 0;
  for (const { 0: code, index } of [...line.matchAll(styleCode), { 0: '', index: line.length }]) {
    for (const character of line.slice(at, index)) {
      room -= widthOf(character);
      if (room < 0) {
        const end = kept.includes('\u001b') ? styleEnd : '';
        return `${kept}…${end}${' '.repeat(Math.max(0, width - 1 - paintedWidth(kept)))}`;
      }
      kept += character;
    }
    kept += code;
    at = index + code.length;
  }
  return kept;
}

/** Untrusted text as wrapped lines; control characters are made visible. */
export function untrustedLines(text: string, width: number): string[] {
  const lines = visible(text).replace(/\t/g, '  ').split('\n');
  return lines.flatMap((line) => wrapLine(line, width));
}

/** Wraps a line between words if possible, else inside a word. The blank at the break is dropped. */
export function wrapLine(line: string, width: number): string[] {
  const room = Math.max(1, width);
  if (widthOf(line) <= room) return [line];
  const lines: string[] = [];
  let start = 0;
  let at = 0;
  let lineWidth = 0;
  /** Just after the last blank that follows a word, and the line's width up to there. */
  let blank = { at: 0, width: 0 };
  const end = (to: number, from: number, carriedWidth: number) => {
    lines.push(line.slice(start, to).trimEnd());
    start = from;
    lineWidth = carriedWidth;
  };
  for (const character of line) {
    const cells = widthOf(character);
    const isOver = lineWidth + cells > room && at > start;
    if (isOver && character === ' ') end(at, at + 1, -cells);
    else if (isOver && blank.at > start) end(blank.at, blank.at, lineWidth - blank.width);
    else if (isOver) end(at, at, 0);
    at += character.length;
    lineWidth += cells;
    if (character === ' ' && line.slice(start, at).trim() !== '') blank = { at, width: lineWidth };
  }
  return [...lines, line.slice(start)];
}
