import type { ComponentChildren } from 'preact';
import { exactOf, type Field, labelOf, textOf } from '../../view/field.ts';
import type { TableColumn } from './table.tsx';

/** How cells of some fields look, by the names of the fields; the others are their text. */
export type Cells<Row> = Readonly<Record<string, (row: Row) => ComponentChildren>>;

/** The classes of the cells of some fields, by the names of the fields. */
export type Kinds = Readonly<Record<string, string>>;

interface ColumnOptions<Row> {
  cells?: Cells<Row>;
  kinds?: Kinds;
  /** Fields that narrow windows show below others, by the names of those. */
  seconds?: Readonly<Record<string, string>>;
}

/** Fields as the columns of a table. */
export function fieldColumns<Row, Context>(
  fields: readonly Field<Row, Context>[],
  context: Context,
  { cells = {}, kinds = {}, seconds = {} }: ColumnOptions<Row>,
): TableColumn<Row>[] {
  const showOf = (field: Field<Row, Context>) =>
    cells[field.name] ?? ((row: Row) => <FieldText field={field} row={row} context={context} />);
  return fields.map((field) => {
    const show = showOf(field);
    const second = fields.find(({ name }) => name === seconds[field.name]);
    const showSecond = second && showOf(second);
    return {
      name: titleOf(field),
      kind: kinds[field.name] ?? (field.unit ? 'number' : 'name'),
      whole: (row) => textOf(field, row, context),
      show: showSecond
        ? (row) => (
            <>
              {show(row)}
              <span class="second-line">{showSecond(row)}</span>
            </>
          )
        : show,
    };
  });
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
