import { type Field, labelOf, textOf } from '../../../view/field.ts';
import { escapeCell } from '../../output/escape-controls.ts';
import { styleOf } from '../../output/field-columns.ts';
import type { Style } from '../../output/style.ts';
import type { Cell, Column } from '../../output/table.ts';
import { cutToWidth } from '../../output/width.ts';
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
  /** What rows are sorted by; by default the text. Null comes last. */
  value?(row: Row): Cell;
}

/** How rows are sorted. */
export interface Sort {
  /** The title of the column. */
  column: string;
  isDescending: boolean;
}

/** A column of a command's table as one of a list. */
export function listColumn<Row, Source>(
  { title, label, value, show, style, align }: Column<Source>,
  of: (row: Row) => Source,
  layout: Pick<ListColumn<Row>, 'width' | 'grows' | 'spare'> & { title?: string },
): ListColumn<Row> {
  return {
    title: label ?? title.replace(/_(ms|usd|at)$/, '').replaceAll('_', ' '),
    ...(align && { align }),
    ...layout,
    text: (row) => show?.(of(row)) ?? String(value(of(row)) ?? '–'),
    value: (row) => value(of(row)),
    ...(style && { style: (row) => style(of(row)) }),
  };
}

const usualWidth = 11;
const usualSpare = 7;

/** A field as a column of a list. */
export function fieldColumn<Row, Context>(
  field: Field<Row, Context>,
  contextOf: (options: RenderOptions) => Context,
): ListColumn<Row> {
  const { value, tone, unit, width = usualWidth } = field;
  // Without a width it is not for narrow terminals.
  const spare = field.spare ?? (field.width === undefined ? usualSpare : undefined);
  return {
    title: labelOf(field),
    width,
    ...(spare !== undefined && { spare }),
    ...(unit && { align: 'right' }),
    value,
    text: (row, options) => textOf(field, row, contextOf(options)),
    ...(tone && { style: (row) => styleOf(tone(row)) }),
  };
}

/** Rows by the values of a column: numbers by size, also those in texts; rows without a value last. */
export function sortedRows(
  rows: readonly unknown[],
  column: ListColumn<unknown>,
  { isDescending }: Sort,
  options: RenderOptions,
): unknown[] {
  const valued = rows.map((row) => {
    const value = column.value ? (column.value(row) ?? null) : column.text(row, options);
    const number =
      typeof value === 'number' ? value : value === null || value === '' ? Number.NaN : Number(value);
    return { row, value, number };
  });
  const sign = isDescending ? -1 : 1;
  valued.sort((one, other) => {
    if (one.value === null || other.value === null)
      return Number(one.value === null) - Number(other.value === null);
    if (!Number.isNaN(one.number) && !Number.isNaN(other.number)) return sign * (one.number - other.number);
    return sign * collator.compare(String(one.value), String(other.value));
  });
  return valued.map(({ row }) => row);
}

const collator = new Intl.Collator('en', { numeric: true });

/** Whether a column has numbers, of which the largest are looked for. */
export function isNumeric(column: ListColumn<unknown>, rows: readonly unknown[]): boolean {
  const value = rows.map((row) => column.value?.(row)).find((one) => one !== null && one !== undefined);
  return (
    typeof value === 'number' || (typeof value === 'string' && value !== '' && !Number.isNaN(Number(value)))
  );
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

/** The titles of the columns that fit. */
export function shownTitles(columns: ListColumn<unknown>[], width: number): string[] {
  return placeColumns(columns, width).map(({ column }) => column.title);
}

/** Which column is at a cell of a line; undefined between them. */
export function columnAt(columns: ListColumn<unknown>[], width: number, cell: number): string | undefined {
  let from = signsWidth;
  for (const { column, width: own } of placeColumns(columns, width)) {
    if (cell >= from && cell < from + own) return column.title;
    from += own + gap.length;
  }
  return undefined;
}

/** The column titles. */
export function titleRow(
  columns: ListColumn<unknown>[],
  { width, paint }: RenderOptions,
  sort?: Sort | undefined,
): string {
  const cells = placeColumns(columns, width).map(({ column, width: cellWidth }) => {
    const title = column.title.toUpperCase();
    if (column.title !== sort?.column) return fitCell(title, cellWidth, { align: column.align });
    // The sign must not be cut off.
    return fitCell(`${cutToWidth(title, cellWidth - 1)}${sort.isDescending ? '▼' : '▲'}`, cellWidth, {
      align: column.align,
    });
  });
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
