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

/** Breaks a line between its words where it can, within them where it must. */
export function broken(line: string, width: number): string[] {
  const room = Math.max(1, width);
  if (widthOf(line) <= room) return [line];
  const lines: string[] = [];
  let rest = line;
  while (widthOf(rest) > room) {
    const end = endWithin(rest, room);
    const blank = rest.lastIndexOf(' ', end);
    const at = blank > 0 ? blank : end;
    lines.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(blank > 0 ? at + 1 : at);
  }
  return [...lines, rest];
}

/** How many UTF-16 units of a text fill at most `room` cells, and at least one character. */
function endWithin(text: string, room: number): number {
  let width = 0;
  let end = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > room && end > 0) break;
    end += character.length;
  }
  return end;
}
