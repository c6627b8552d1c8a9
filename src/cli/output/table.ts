import { type CsvDelimiter, csvRow } from '../../shared/text/csv.ts';
import { escapeCell, tabSeparatedCell } from './escape-controls.ts';
import type { Paint, Style } from './style.ts';
import { cutToWidth, widthOf, wrapToWidth } from './width.ts';
import { wrapLine } from './wrap-line.ts';

export type Cell = string | number | boolean | null | undefined;

/** How to print one field of a record: raw in a pipe, formatted on a terminal. */
export interface Column<Row> {
  /** The field's name, with its unit: `uptime_ms`. */
  title: string;
  /** The header on a terminal; defaults to `title` without its unit. */
  label?: string;
  value: (row: Row) => Cell;
  /** The formatted value; defaults to `value`. */
  show?: (row: Row) => string;
  style?: (row: Row) => Style | undefined;
  align?: 'right';
  /** Of a cell on a terminal, at least; for rows that come one after another. */
  width?: number;
  /** Hidden if the terminal is too narrow. */
  isSpare?: true;
  /** Not cut if the terminal is too narrow. */
  isWhole?: true;
  /** Printed by `--quiet`, and never truncated or hidden; defaults to the first column. */
  essential?: true;
}

interface Terminal {
  columns: number;
  paint: Paint;
  /** Leaves out the titles: the rows follow others. */
  hasTitles?: boolean;
}

interface RecordTerminal extends Terminal {
  /** Where a longer line would be cut. In a terminal's scrollback, long words stay whole, so that they can be copied. */
  breaksWords?: true;
}

const gap = '  ';
/** Of a column that is cut; its title stays whole. */
const narrowest = 8;
const narrowestText = 20;

/**
 * Aligned rows under a header. On a narrow terminal, spare columns are hidden, then the widest truncated, but no numbers; what
 * still does not fit is hidden from the right.
 */
export function alignedTable<Row>(
  rows: Row[],
  all: Column<Row>[],
  { columns: room, paint, hasTitles = true }: Terminal,
): string {
  const columns = all.map((column, at) => measured(column, rows, at));
  dropSpares(columns, room);
  shrink(columns, room);
  dropLast(columns, room);
  const lineOf = (cells: string[], style: (column: Column<Row>) => Style | undefined) => {
    const padded = columns.map(({ column, width }, at) => {
      const cut = cutToWidth(cells[at] ?? '', width);
      const blank = ' '.repeat(Math.max(0, width - widthOf(cut)));
      const painted = paint(style(column), cut);
      if (column.align === 'right') return blank + painted;
      return at === columns.length - 1 ? painted : painted + blank;
    });
    return `${padded.join(gap).trimEnd()}\n`;
  };
  const titles = columns.map(({ column }) => labelOf(column).toUpperCase());
  const lines = rows.map((row, at) =>
    lineOf(
      columns.map(({ cells }) => cells[at] ?? ''),
      (column) => column.style?.(row),
    ),
  );
  return (hasTitles ? lineOf(titles, () => 'bold') : '') + lines.join('');
}

/** One record with a line per field; long values wrap with an indent. */
export function alignedRecord<Row>(
  row: Row,
  columns: Column<Row>[],
  { columns: room, paint, breaksWords }: RecordTerminal,
): string {
  const width = Math.max(...columns.map((column) => widthOf(labelOf(column))));
  const indent = ' '.repeat(width) + gap;
  const textRoom = Math.max(breaksWords ? 1 : narrowestText, room - indent.length);
  return columns
    .map((column) => {
      const label = labelOf(column);
      const style = column.style?.(row);
      const wrap = breaksWords ? wrapLine : wrapToWidth;
      const lines = wrap(shown(column, row), textRoom).map((line) => paint(style, line));
      return `${paint('dim', label.padEnd(width))}${gap}${lines.join(`\n${indent}`)}\n`;
    })
    .join('');
}

/** `uptime_ms` → `uptime`, `data_dir` → `data dir`. */
function labelOf<Row>({ title, label }: Column<Row>): string {
  return label ?? title.replace(/_(ms|usd|at)$/, '').replaceAll('_', ' ');
}

/** One row per line, with tabs between cells and no header. */
export function tabSeparatedRows<Row>(rows: Row[], columns: Column<Row>[]): string {
  return rows.map((row) => `${columns.map((column) => plain(column, row)).join('\t')}\n`).join('');
}

/** CSV after RFC 4180, with the columns' titles in the first line. */
export function csvTable<Row>(rows: Row[], columns: Column<Row>[], delimiter?: CsvDelimiter): string {
  const lines = rows.map((row) =>
    csvRow(
      columns.map((column) => column.value(row)),
      delimiter,
    ),
  );
  return (
    csvRow(
      columns.map(({ title }) => title),
      delimiter,
    ) + lines.join('')
  );
}

/** One record as lines of title, tab and value. */
export function tabSeparatedRecord<Row>(row: Row, columns: Column<Row>[]): string {
  return columns.map((column) => `${column.title}\t${plain(column, row)}\n`).join('');
}

/** The essential field of each row, one per line. */
export function essentials<Row>(rows: Row[], columns: Column<Row>[]): string {
  const column = columns.find((one) => one.essential) ?? columns[0];
  const names = column ? rows.map((row) => plain(column, row)) : [];
  return names.map((name) => (name === '' ? '' : `${name}\n`)).join('');
}

function plain<Row>(column: Column<Row>, row: Row): string {
  return tabSeparatedCell(String(column.value(row) ?? ''));
}

function shown<Row>(column: Column<Row>, row: Row): string {
  if (column.show) return escapeCell(column.show(row));
  const value = column.value(row);
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : escapeCell(String(value ?? '–'));
}

interface Measured<Row> {
  column: Column<Row>;
  cells: string[];
  width: number;
  mayBeCut: boolean;
}

function measured<Row>(column: Column<Row>, rows: Row[], at: number): Measured<Row> {
  const cells = rows.map((row) => shown(column, row));
  const width = Math.max(column.width ?? 0, widthOf(labelOf(column)), ...cells.map(widthOf));
  return {
    column,
    cells,
    width,
    mayBeCut: at > 0 && !column.essential && !column.isWhole && column.align !== 'right',
  };
}

function widthOfAll(columns: { width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width, gap.length * (columns.length - 1));
}

function dropSpares<Row>(columns: Measured<Row>[], room: number): void {
  while (widthOfAll(columns) > room) {
    const last = columns.findLastIndex(({ column }) => column.isSpare);
    if (last < 0) return;
    columns.splice(last, 1);
  }
}

function dropLast<Row>(columns: Measured<Row>[], room: number): void {
  while (widthOfAll(columns) > room) {
    const last = columns.findLastIndex(({ column }, at) => at > 0 && !column.essential);
    if (last < 0) return;
    columns.splice(last, 1);
  }
}

function shrink<Row>(columns: Measured<Row>[], room: number): void {
  while (widthOfAll(columns) > room) {
    const cuttable = columns.filter(
      ({ column, width, mayBeCut }) => mayBeCut && width > Math.max(narrowest, widthOf(labelOf(column))),
    );
    const widest = cuttable.sort((one, other) => other.width - one.width)[0];
    if (!widest) return;
    widest.width -= 1;
  }
}
