/** A value that SQLite can bind. */
export type SqlValue = string | number | null;

declare const columns: unique symbol;

/** The values of a row in the order of its format's columns. A tuple, because copying an object to a thread costs three times as much. */
export type Row<Columns> = readonly SqlValue[] & { readonly [columns]?: Columns };

/** The SQL name of a column: `requestId` is stored as `request_id`. Drizzle's `snake_case` does the same for tables. */
export function sqlName(column: string): string {
  return column.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The columns of a hot statement, and how they are read from a record. */
export interface RowFormat<Source, Columns> {
  /** SQL names, in the order in which values are bound. */
  readonly names: readonly string[];
  /** Builds a row from a record. */
  row(source: Source): Row<Columns>;
  /** Reads one column of a row. */
  get<Name extends keyof Columns & string>(row: Row<Columns>, name: Name): ValueOf<Source, Columns[Name]>;
  /** A copy of a row with other values in some columns. */
  with(row: Row<Columns>, changes: { [Name in keyof Columns & string]?: SqlValue }): SqlValue[];
}

type ValueOf<Source, Read> = Read extends (source: never) => infer Value
  ? Value
  : Source[Read & keyof Source];

/** How a column is read from a record: the name of a member, or a function. */
type Reader<Source> =
  | ((source: Source) => SqlValue)
  | { [Name in keyof Source & string]: Source[Name] extends SqlValue ? Name : never }[keyof Source & string];

/** Lists the columns of a hot statement once: which columns of the table it binds, in which order, with which values. */
export function rowFormat<Table extends { $inferSelect: object }, Source>() {
  return <const Columns extends { [Name in keyof Table['$inferSelect']]?: Reader<Source> }>(
    definition: Columns,
  ): RowFormat<Source, Columns> => {
    const readers = Object.values(definition) as Reader<Source>[];
    const positions = new Map(Object.keys(definition).map((name, position) => [name, position]));
    return {
      names: Object.keys(definition).map(sqlName),
      row: (source) => {
        // Not by `map`: V8 treats what that returns as an array with holes, which takes twice as long to copy to a thread.
        const row: SqlValue[] = [];
        for (const read of readers)
          row.push(typeof read === 'function' ? read(source) : (source[read] as SqlValue));
        return row;
      },
      get: (row, name) => row[positions.get(name) as number] as never,
      with: (row, changes) => {
        const values = [...row];
        for (const name in changes) values[positions.get(name) as number] = changes[name as never];
        return values as SqlValue[];
      },
    };
  };
}

/** The assignments of an UPSERT that adds what is inserted to the columns of the row that is there. */
export function adding(table: string, columns: readonly string[]): string {
  return columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ');
}

/** An INSERT that binds a row of the format, and sets further columns to constants. */
export function insertSql(
  table: string,
  { names }: Pick<RowFormat<never, never>, 'names'>,
  constants: Readonly<Record<string, number>> = {},
): string {
  const columns = [...names, ...Object.keys(constants)];
  const values = [...names.map(() => '?'), ...Object.values(constants)];
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`;
}
