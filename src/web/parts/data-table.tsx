import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Cell } from '../../view/field.ts';
import { route, setQuery } from '../data/route.ts';
import { type ColumnSort, type HeadColumn, TableHead } from './table-head.tsx';

/** A column of a table of which all rows are loaded. */
export interface DataColumn<Row> extends HeadColumn {
  /** What rows are sorted by: highest first if these are numbers. Without it, they are not. */
  value?: (row: Row) => Cell;
}

interface DataTableProps<Row> {
  /** Its name in the address, where the order is kept. */
  name: string;
  columns: readonly DataColumn<Row>[];
  rows: readonly Row[];
  /** How many rows are shown at most. */
  most?: number;
  /** Rows become cards where the window is narrow. */
  isCards?: boolean;
  class?: string;
  /** What follows the rows. */
  foot?: ComponentChildren;
  /** A row, with its key. */
  children: (row: Row) => ComponentChildren;
}

/** A table that can be sorted by any of its columns that have values. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { name, columns, rows, most, isCards = true, class: kind = '', foot, children } = props;
  const parameter = `sort-${name}`;
  const chosen = orderIn(route.value.query.get(parameter));
  const column = columns.find((one) => one.value && idOf(one) === chosen?.id);
  const isDescending = chosen?.isDescending ?? false;
  const value = column?.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the column is made anew each time, and names its value.
  const sorted = useMemo(
    () => (value ? sortedBy(rows, value, isDescending) : rows),
    [rows, chosen?.id, isDescending],
  );
  const choose = (next: string | undefined) => setQuery({ [parameter]: next });
  const sortOf = (one: DataColumn<Row>): ColumnSort | undefined => {
    if (!one.value) return undefined;
    const isChosen = one === column;
    const first = firstOrder(one, rows);
    return {
      direction: isChosen ? (isDescending ? 'descending' : 'ascending') : undefined,
      choose: () => choose(nextOrder(idOf(one), isChosen ? isDescending : undefined, first)),
    };
  };
  const heads = columns.map((one) => ({ ...one, sort: sortOf(one) }));
  return (
    <>
      {isCards && (
        <div class="narrow-sort only-narrow">
          <span aria-hidden="true">Sort by </span>
          <select
            aria-label="Sort by"
            value={column && chosen ? text(chosen) : ''}
            onChange={(event) => choose(event.currentTarget.value || undefined)}
          >
            <option value="">–</option>
            {columns.flatMap((one) =>
              one.value
                ? [false, true].map((isDown) => (
                    <option
                      key={`${one.name} ${isDown}`}
                      value={text({ id: idOf(one), isDescending: isDown })}
                    >
                      {one.name} {isDown ? '▼' : '▲'}
                    </option>
                  ))
                : [],
            )}
          </select>
        </div>
      )}
      <table class={`data ${isCards ? 'is-cards' : ''} ${kind}`}>
        <TableHead columns={heads} />
        <tbody>{(most === undefined ? sorted : sorted.slice(0, most)).map(children)}</tbody>
        {foot && <tfoot>{foot}</tfoot>}
      </table>
    </>
  );
}

interface Order {
  id: string;
  isDescending: boolean;
}

/** `This month` → `this-month`. */
const idOf = ({ name }: HeadColumn) => name.toLowerCase().replaceAll(' ', '-');

const text = ({ id, isDescending }: Order) => `${isDescending ? '-' : ''}${id}`;

function orderIn(given: string | null): Order | undefined {
  if (given === null) return undefined;
  const isDescending = given.startsWith('-');
  return { id: isDescending ? given.slice(1) : given, isDescending };
}

/** Whether the highest come first at the first click: so it is with numbers. */
function firstOrder<Row>({ value }: DataColumn<Row>, rows: readonly Row[]): boolean {
  return rows.some((row) => typeof value?.(row) === 'number');
}

/** The first order, then the other one, then that of the table itself. */
function nextOrder(id: string, now: boolean | undefined, first: boolean): string | undefined {
  if (now === undefined) return text({ id, isDescending: first });
  return now === first ? text({ id, isDescending: !first }) : undefined;
}

/** Rows without a value come last in both orders. */
function sortedBy<Row>(
  rows: readonly Row[],
  value: (row: Row) => Cell,
  isDescending: boolean,
): readonly Row[] {
  const isEmpty = (cell: Cell) => cell === null || cell === undefined || cell === '';
  const sign = isDescending ? -1 : 1;
  return rows
    .map((row) => ({ row, cell: value(row) }))
    .sort(({ cell: a }, { cell: b }) => {
      if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b));
      return sign * compared(a, b);
    })
    .map(({ row }) => row);
}

function compared(a: Cell, b: Cell): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', { numeric: true, sensitivity: 'base' });
}

/** A time to sort by. */
export function timeOf(at: string | null | undefined): number | undefined {
  return at ? Date.parse(at) : undefined;
}
