import { visible } from '../../output/visible.ts';
import { cutToWidth, widthOf } from '../../output/width.ts';

/** Cuts a text to a width and fills it up with blanks. */
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

/** Lines of a text that somebody else wrote: nothing in it is obeyed, and none is longer than the width. */
export function foreignLines(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const line of visible(text).replace(/\t/g, '  ').split('\n')) lines.push(...broken(line, width));
  return lines;
}

/** Breaks a line between its words where it can, within them where it must. The blank that it is broken at is left out. */
export function broken(line: string, width: number): string[] {
  const room = Math.max(1, width);
  if (widthOf(line) <= room) return [line];
  const lines: string[] = [];
  let start = 0;
  let at = 0;
  let wide = 0;
  /** Behind the last blank that words stand before, and how wide the line is until there. */
  let blank = { at: 0, wide: 0 };
  const end = (to: number, from: number, left: number) => {
    lines.push(line.slice(start, to).trimEnd());
    start = from;
    wide = left;
  };
  for (const character of line) {
    const cells = widthOf(character);
    const isOver = wide + cells > room && at > start;
    if (isOver && character === ' ') end(at, at + 1, -cells);
    else if (isOver && blank.at > start) end(blank.at, blank.at, wide - blank.wide);
    else if (isOver) end(at, at, 0);
    at += character.length;
    wide += cells;
    if (character === ' ' && line.slice(start, at).trim() !== '') blank = { at, wide };
  }
  return [...lines, line.slice(start)];
}
