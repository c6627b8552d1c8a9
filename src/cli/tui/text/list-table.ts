import { escapeCell } from '../../output/escape-controls.ts';
import type { Style } from '../../output/style.ts';
import { fitCell } from './cells.ts';
import type { RenderOptions } from './render-options.ts';

export interface ListColumn<Row> {
  title: string;
  /** In cells; the minimum for a column that grows. */
  width: number;
  /** Shares the remaining width. */
  grows?: true;
  /** Dropped if the table is too wide; the highest number goes first. */
  spare?: number;
  align?: 'right';
  /** A chart keeps its own colours in the selected row: reversed, a bar would read the wrong way round. */
  isChart?: true;
  text(row: Row, options: RenderOptions): string;
  style?(row: Row): Style | undefined;
}

const gap = '  ';
/** In front of each row: the selection and the mark. */
const signsWidth = 2;

interface ListRow {
  row: unknown;
  isSelected: boolean;
  isMarked: boolean;
}

interface PlacedColumn<Row> {
  column: ListColumn<Row>;
  width: number;
}

/** The columns that fit, with their widths. */
function placeColumns<Row>(columns: ListColumn<Row>[], width: number): PlacedColumn<Row>[] {
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
  let placed = 0;
  return kept.map((column) => {
    if (!column.grows) return { column, width: column.width };
    placed += 1;
    const share = Math.floor(left / growing) + (placed === growing ? left % growing : 0);
    return { column, width: column.width + share };
  });
}

/** The column titles. */
export function titleRow(columns: ListColumn<unknown>[], { width, paint }: RenderOptions): string {
  const cells = placeColumns(columns, width).map(({ column, width: cellWidth }) =>
    fitCell(column.title.toUpperCase(), cellWidth, { align: column.align }),
  );
  return paint('bold', fitCell(' '.repeat(signsWidth) + cells.join(gap), width));
}

/** The visible rows. The selected one has a sign and is shown in reverse video. */
export function listRows(rows: ListRow[], columns: ListColumn<unknown>[], options: RenderOptions): string[] {
  const { width, paint } = options;
  const placed = placeColumns(columns, width);
  const used = placed.reduce((sum, column) => sum + column.width + gap.length, signsWidth - gap.length);
  return rows.map(({ row, isSelected, isMarked }) => {
    const signs = (isSelected ? '❯' : ' ') + (isMarked ? '*' : ' ');
    const rest = isSelected ? paint('inverse', ' '.repeat(Math.max(0, width - used))) : '';
    const cells = placed.map(({ column, width: cellWidth }) => {
      const value = escapeCell(column.text(row, { ...options, width: cellWidth }));
      const text = fitCell(value, cellWidth, { align: column.align });
      return paint(isSelected && !column.isChart ? 'inverse' : column.style?.(row), text);
    });
    const between = isSelected ? paint('inverse', gap) : gap;
    return (isSelected ? paint('inverse', signs) : signs) + cells.join(between) + rest;
  });
}
