/** A column of a table: its name, and how it looks. */
export interface HeadColumn {
  name: string;
  /** The class of the cell; `number` aligns to the right. */
  kind?: string | undefined;
  title?: string | undefined;
  /** Whether only screen readers need the name. */
  isHidden?: boolean;
  /** Of a table that can be sorted by it. */
  sort?: ColumnSort | undefined;
}

export interface ColumnSort {
  /** The order of the rows, if it is that of the column. */
  direction: 'ascending' | 'descending' | undefined;
  choose: () => void;
}

const marks = { ascending: ' ▲', descending: ' ▼' };

/** A column of figures. */
export const number = (name: string, title?: string) => ({ name, kind: 'number', title });

/** The column of the buttons of each row. */
export const actions = { name: 'Actions', isHidden: true };

export function TableHead({ columns }: { columns: readonly (HeadColumn | string)[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const { name, kind, title, isHidden, sort }: HeadColumn =
            typeof column === 'string' ? { name: column } : column;
          return (
            <th key={name} scope="col" class={kind} title={title} aria-sort={sort?.direction}>
              {isHidden && <span class="for-readers">{name}</span>}
              {!isHidden && sort && (
                <button type="button" class="sort" onClick={sort.choose}>
                  {name}
                  <span class="sort-mark" aria-hidden="true">
                    {sort.direction ? marks[sort.direction] : ' ↕'}
                  </span>
                </button>
              )}
              {!isHidden && !sort && name}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
