import { exactOf, type Field, type Tone, textOf } from '../../view/field.ts';
import type { Style } from './style.ts';
import type { Column } from './table.ts';

const styles: Readonly<Record<Tone, Style>> = {
  good: 'green',
  warn: 'yellow',
  bad: 'red',
  busy: 'cyan',
  quiet: 'dim',
};

/** The colour of a value on a terminal. */
export function styleOf(tone: Tone | undefined): Style | undefined {
  return tone && styles[tone];
}

/** A field as a column of a table. */
export function listColumn<Row, Context>(field: Field<Row, Context>, context: Context): Column<Row> {
  return { ...column(field), ...(field.text && { show: (row) => textOf(field, row, context) }) };
}

/** A field as a line of a record, where there is room for exact values. */
export function recordColumn<Row, Context>(field: Field<Row, Context>, context: Context): Column<Row> {
  const hasText = field.exact ?? field.text;
  return { ...column(field), ...(hasText && { show: (row) => exactOf(field, row, context) }) };
}

function column<Row, Context>({ name, label, unit, value, tone, isWhole }: Field<Row, Context>): Column<Row> {
  return {
    title: name,
    ...(label !== undefined && { label }),
    value,
    ...(tone && { style: (row) => styleOf(tone(row)) }),
    ...(unit && { align: 'right' }),
    ...(isWhole && { isWhole }),
  };
}
