/*
 * What a thing has: each list of fields is rendered by the CLI's tables and records, the columns of the TUI and the tables
 * of the page.
 */

export type Cell = string | number | boolean | null | undefined;

/** How a value is coloured. */
export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'quiet';

/** What a value is measured in; values with a unit are aligned to the right. */
export type Unit = 'count' | 'usd' | 'ms' | 'rate' | 'percent';

export interface Field<Row, Context = object> {
  /** As in JSON, with its unit: `total_ms`. */
  name: string;
  /** What people read; by default the name without its unit. */
  label?: string;
  unit?: Unit;
  /** The plain value, in pipes and CSV, and what rows are sorted by. */
  value: (row: Row) => Cell;
  /** As it is in a list; by default the value. */
  text?: (row: Row, context: Context) => string;
  /** As it is where there is room, and beside the text; by default as in a list. */
  exact?: (row: Row, context: Context) => string;
  tone?: (row: Row) => Tone | undefined;
  /** Not cut where a table is too wide. */
  isWhole?: true;
  /** As a column of the TUI: its width in characters, and how soon it is dropped; the highest number goes first. */
  width?: number;
  spare?: number;
}

/** `uptime_ms` → `uptime`, `data_dir` → `data dir`. */
export function labelOf({ name, label }: Pick<Field<never>, 'name' | 'label'>): string {
  return label ?? name.replace(/_(ms|usd|at)$/, '').replaceAll('_', ' ');
}

/** A value as it is in a list. */
export function textOf<Row, Context>(field: Field<Row, Context>, row: Row, context: Context): string {
  return field.text ? field.text(row, context) : plainText(field.value(row));
}

/** A value as it is where there is room. */
export function exactOf<Row, Context>(field: Field<Row, Context>, row: Row, context: Context): string {
  return field.exact ? field.exact(row, context) : textOf(field, row, context);
}

function plainText(value: Cell): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === null || value === undefined ? '–' : String(value);
}

/** The same fields of things that contain the row. */
export function fieldsOf<Outer, Row, Context>(
  fields: readonly Field<Row, Context>[],
  rowOf: (outer: Outer) => Row,
): Field<Outer, Context>[] {
  return fields.map(({ value, text, exact, tone, ...field }) => ({
    ...field,
    value: (outer) => value(rowOf(outer)),
    ...(text && { text: (outer: Outer, context: Context) => text(rowOf(outer), context) }),
    ...(exact && { exact: (outer: Outer, context: Context) => exact(rowOf(outer), context) }),
    ...(tone && { tone: (outer: Outer) => tone(rowOf(outer)) }),
  }));
}

/** Some of the fields, in the order of their names. */
export function pick<Kind extends { name: string }>(
  fields: readonly Kind[],
  names: readonly string[],
): Kind[] {
  return names.flatMap((name) => fields.find((field) => field.name === name) ?? []);
}

/** The texts of a row, by the names of its fields. */
export function textsOf<Row, Context>(
  fields: readonly Field<Row, Context>[],
  row: Row,
  context: Context,
): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field.name, textOf(field, row, context)]));
}
