import { visibleCell } from '../../output/visible.ts';
import type { Drawing, ScreenColumn } from '../screen.ts';
import { fitCell } from './cells.ts';

const gap = '  ';
/** Before each row: what is selected and what is marked. */
const signsWidth = 2;

interface Row {
  row: unknown;
  isSelected: boolean;
  isMarked: boolean;
}

interface Placed<R> {
  column: ScreenColumn<R>;
  width: number;
}

/** The columns that have room, with their widths; those that grow share what is left. */
export function placed<R>(columns: ScreenColumn<R>[], width: number): Placed<R>[] {
  const kept = [...columns];
  const needed = () => kept.reduce((sum, column) => sum + column.width + gap.length, -gap.length);
  const room = width - signsWidth;
  while (needed() > room) {
    const spares = kept.filter(({ spare }) => spare !== undefined);
    const first = spares.sort((one, other) => (other.spare ?? 0) - (one.spare ?? 0))[0];
    if (!first) break;
    kept.splice(kept.indexOf(first), 1);
  }
  const growing = kept.filter(({ grows }) => grows).length;
  const left = Math.max(0, room - needed());
  let given = 0;
  return kept.map((column) => {
    if (!column.grows) return { column, width: column.width };
    given += 1;
    const share = Math.floor(left / growing) + (given === growing ? left % growing : 0);
    return { column, width: column.width + share };
  });
}

/** The line above the rows. */
export function titleLine(columns: ScreenColumn<unknown>[], { width, paint }: Drawing): string {
  const cells = placed(columns, width).map(({ column, width: wide }) =>
    fitCell(column.title.toUpperCase(), wide, { align: column.align }),
  );
  return paint('bold', fitCell(' '.repeat(signsWidth) + cells.join(gap), width));
}

/** The rows that are seen. The selected one has a sign and, where there are colours, is turned round. */
export function rowLines(rows: Row[], columns: ScreenColumn<unknown>[], drawing: Drawing): string[] {
  const { width, paint } = drawing;
  const places = placed(columns, width);
  return rows.map(({ row, isSelected, isMarked }) => {
    const signs = (isSelected ? '❯' : ' ') + (isMarked ? '*' : ' ');
    const cells = places.map(({ column, width: wide }) => {
      const text = fitCell(visibleCell(column.text(row, { ...drawing, width: wide })), wide, {
        align: column.align,
      });
      return isSelected ? text : paint(column.style?.(row), text);
    });
    const line = signs + cells.join(gap);
    return isSelected ? paint('inverse', fitCell(line, width)) : line;
  });
}
