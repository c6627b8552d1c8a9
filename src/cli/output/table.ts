import type { Paint, Style } from './style.ts';
import { tabSeparatedCell, visibleCell } from './visible.ts';
import { cutToWidth, widthOf, wrapToWidth } from './width.ts';

export type Cell = string | number | boolean | null | undefined;

/** How one member of a record is shown: as it is where a program reads, as a person likes it on a terminal. */
export interface Column<Row> {
  /** What a program reads it by, with its unit: `uptime_ms`. */
  title: string;
  /** On a terminal, where the value shows its unit; `title` without it unless told. */
  label?: string;
  value: (row: Row) => Cell;
  /** On a terminal; `value` unless told. */
  show?: (row: Row) => string;
  style?: (row: Row) => Style | undefined;
  align?: 'right';
  /** Left out where the terminal is too narrow for all. */
  isSpare?: true;
  /** What `--quiet` prints, and what is never cut; the first column unless told. */
  essential?: true;
}

interface Terminal {
  columns: number;
  paint: Paint;
}

const gap = '  ';
const narrowest = 8;
const narrowestText = 20;

/** Aligned rows under their titles. Where the terminal is too narrow, spare columns go, then the widest are cut. */
export function alignedTable<Row>(
  rows: Row[],
  all: Column<Row>[],
  { columns: room, paint }: Terminal,
): string {
  const columns = all.map((column, at) => measured(column, rows, at));
  dropSpares(columns, room);
  shrink(columns, room);
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
  return lineOf(titles, () => 'bold') + lines.join('');
}

/** One record, a line a member; long ones go on under their own beginning. */
export function alignedRecord<Row>(
  row: Row,
  columns: Column<Row>[],
  { columns: room, paint }: Terminal,
): string {
  const width = Math.max(...columns.map((column) => widthOf(labelOf(column))));
  const indent = ' '.repeat(width) + gap;
  const textRoom = Math.max(narrowestText, room - indent.length);
  return columns
    .map((column) => {
      const label = labelOf(column);
      const style = column.style?.(row);
      const lines = wrapToWidth(shown(column, row), textRoom).map((line) => paint(style, line));
      return `${paint('dim', label.padEnd(width))}${gap}${lines.join(`\n${indent}`)}\n`;
    })
    .join('');
}

/** `uptime_ms` → `uptime`, `data_dir` → `data dir`. */
function labelOf<Row>({ title, label }: Column<Row>): string {
  return label ?? title.replace(/_(ms|usd|at)$/, '').replaceAll('_', ' ');
}

/** A row a line, a tab between cells, no titles. */
export function tabSeparatedRows<Row>(rows: Row[], columns: Column<Row>[]): string {
  return rows.map((row) => `${columns.map((column) => plain(column, row)).join('\t')}\n`).join('');
}

/** One record as lines of title and value. */
export function tabSeparatedRecord<Row>(row: Row, columns: Column<Row>[]): string {
  return columns.map((column) => `${column.title}\t${plain(column, row)}\n`).join('');
}

/** The essential member of each row that has one, a line each. */
export function essentials<Row>(rows: Row[], columns: Column<Row>[]): string {
  const column = columns.find((one) => one.essential) ?? columns[0];
  const names = column ? rows.map((row) => plain(column, row)) : [];
  return names.map((name) => (name === '' ? '' : `${name}\n`)).join('');
}

function plain<Row>(column: Column<Row>, row: Row): string {
  return tabSeparatedCell(String(column.value(row) ?? ''));
}

function shown<Row>(column: Column<Row>, row: Row): string {
  if (column.show) return visibleCell(column.show(row));
  const value = column.value(row);
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : visibleCell(String(value ?? '–'));
}

interface Measured<Row> {
  column: Column<Row>;
  cells: string[];
  width: number;
  mayBeCut: boolean;
}

function measured<Row>(column: Column<Row>, rows: Row[], at: number): Measured<Row> {
  const cells = rows.map((row) => shown(column, row));
  const width = Math.max(widthOf(labelOf(column)), ...cells.map(widthOf));
  return { column, cells, width, mayBeCut: at > 0 && !column.essential };
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

function shrink<Row>(columns: Measured<Row>[], room: number): void {
  while (widthOfAll(columns) > room) {
    const cuttable = columns.filter(({ width, mayBeCut }) => mayBeCut && width > narrowest);
    const widest = cuttable.sort((one, other) => other.width - one.width)[0];
    if (!widest) return;
    widest.width -= 1;
  }
}
