import { graphemesOf, widthOf } from './width.ts';

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
  for (const character of graphemesOf(line)) {
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
