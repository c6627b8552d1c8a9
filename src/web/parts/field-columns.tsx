import type { ComponentChildren } from 'preact';
import { exactOf, type Field, labelOf, textOf } from '../../view/field.ts';
import type { TableColumn } from './table.tsx';

/** How cells of some fields look, by the names of the fields; the others are their text. */
export type Cells<Row> = Readonly<Record<string, (row: Row) => ComponentChildren>>;

/** The classes of the cells of some fields, by the names of the fields. */
export type Kinds = Readonly<Record<string, string>>;

/** Fields as the columns of a table. */
export function fieldColumns<Row, Context>(
  fields: readonly Field<Row, Context>[],
  context: Context,
  { cells = {}, kinds = {} }: { cells?: Cells<Row>; kinds?: Kinds },
): TableColumn<Row>[] {
  return fields.map((field) => ({
    name: titleOf(field),
    kind: kinds[field.name] ?? (field.unit ? 'number' : 'name'),
    show: cells[field.name] ?? ((row) => <FieldText field={field} row={row} context={context} />),
  }));
}

/** `tok/s` → `Tok/s`. */
export function titleOf(field: Pick<Field<never>, 'name' | 'label'>): string {
  const label = labelOf(field);
  return label.charAt(0).toUpperCase() + label.slice(1);
}

interface FieldTextProps<Row, Context> {
  field: Field<Row, Context>;
  row: Row;
  context: Context;
}

/** A value, exact when pointed at. */
export function FieldText<Row, Context>({ field, row, context }: FieldTextProps<Row, Context>) {
  const text = textOf(field, row, context);
  const exact = exactOf(field, row, context);
  if (text === '–') return <span class="quiet">–</span>;
  return <span title={exact === text ? undefined : exact}>{text}</span>;
}
