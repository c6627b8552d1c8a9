import { widthOf } from '../../output/width.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the very codes that the painter writes.
const style = /\u001b\[[0-9;]*m/g;
const end = '\u001b[0m';

/** The width of a line in which the painter has been. */
export function paintedWidth(line: string): number {
  return widthOf(line.replace(style, ''));
}

/** Cuts a painted line to a width, and fills it up with blanks. A style that was cut off is ended. */
export function fitPainted(line: string, width: number): string {
  const wide = paintedWidth(line);
  if (wide <= width) return line + ' '.repeat(width - wide);
  let room = width - 1;
  let kept = '';
  let at = 0;
  for (const { 0: code, index } of [...line.matchAll(style), { 0: '', index: line.length }]) {
    for (const character of line.slice(at, index)) {
      room -= widthOf(character);
      if (room < 0)
        return `${kept}…${kept.includes('\u001b') ? end : ''}${' '.repeat(Math.max(0, width - 1 - paintedWidth(kept)))}`;
      kept += character;
    }
    kept += code;
    at = index + code.length;
  }
  return kept;
}
