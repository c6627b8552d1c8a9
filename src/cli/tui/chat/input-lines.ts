import { visible } from '../../output/visible.ts';
import { widthOf } from '../../output/width.ts';
import type { LineEdit } from '../text/line-edit.ts';

const prompt = '› ';
const further = '  ';
/** What is written has more lines than there is room for. */
const moreAbove = '↑ ';
const moreBelow = '↓ ';

interface InputLines {
  lines: string[];
  /** Where the cursor is: cells from the left, lines from the top. */
  x: number;
  y: number;
}

/** What is being written, broken at the width, at most so many lines of it, and those around the cursor. */
export function inputLines(
  { text, cursor }: LineEdit,
  { width, linesMax }: { width: number; linesMax: number },
): InputLines {
  const room = Math.max(4, width - prompt.length - 1);
  const lines: string[] = [''];
  let place = { x: 0, y: 0 };
  let at = 0;
  for (const character of text) {
    if (at === cursor) place = here(lines);
    at += character.length;
    if (character === '\n') {
      lines.push('');
      continue;
    }
    const shown = visible(character);
    const last = lines.length - 1;
    if (widthOf(lines[last] ?? '') + widthOf(shown) > room) lines.push(shown);
    else lines[last] += shown;
  }
  if (at <= cursor) place = here(lines);
  const top = Math.max(0, Math.min(place.y - linesMax + 1, lines.length - linesMax));
  const seen = lines.slice(top, top + linesMax);
  const below = lines.length - top - seen.length;
  const signOf = (index: number) => {
    if (index === 0) return top > 0 ? moreAbove : prompt;
    return index === seen.length - 1 && below > 0 ? moreBelow : further;
  };
  return {
    lines: seen.map((line, index) => signOf(index) + line),
    x: prompt.length + place.x,
    y: place.y - top,
  };
}

function here(lines: string[]): { x: number; y: number } {
  return { x: widthOf(lines.at(-1) ?? ''), y: lines.length - 1 };
}
