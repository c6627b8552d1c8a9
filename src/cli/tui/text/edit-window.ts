import { escapeCell } from '../../output/escape-controls.ts';
import { graphemesOf, widthOf } from '../../output/width.ts';
import type { LineEdit } from './line-edit.ts';

/** What of a line is visible in `width` cells, and the cell of its cursor: a line that is too long scrolls with the cursor. */
export function editWindow(
  { text, cursor }: Pick<LineEdit, 'text' | 'cursor'>,
  width: number,
): { text: string; cursor: number } {
  const before = [...graphemesOf(escapeCell(text.slice(0, cursor)))];
  let skipped = 0;
  let taken = widthOf(before.join(''));
  while (taken > width && skipped < before.length) {
    taken -= widthOf(before[skipped] ?? '');
    skipped += 1;
  }
  return { text: [...graphemesOf(escapeCell(text))].slice(skipped).join(''), cursor: taken };
}
