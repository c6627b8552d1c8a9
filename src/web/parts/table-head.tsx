/** A column of a table: its name, or that with how it looks. */
type HeadColumn =
  | string
  | {
      name: string;
      /** The class of the cell; `number` aligns to the right. */
      kind?: string;
      title?: string | undefined;
      /** Whether only screen readers need the name. */
      isHidden?: boolean;
      /** Of a table that can be sorted by it. */
      sort?: ColumnSort | undefined;
    };

export interface ColumnSort {
  /** Whether the rows are in its order, the highest first. */
  isChosen: boolean;
  choose: () => void;
}

/** A column of figures. */
export const number = (name: string, title?: string): HeadColumn => ({ name, kind: 'number', title });

/** The column of the buttons of each row. */
export const actions: HeadColumn = { name: 'Actions', isHidden: true };

const partsOf = (column: HeadColumn) => (typeof column === 'string' ? { name: column } : column);

export function TableHead({ columns }: { columns: readonly HeadColumn[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const { name, kind, title, isHidden, sort } = partsOf(column);
          return (
            <th
              key={name}
              scope="col"
              class={kind}
              title={title}
              aria-sort={sort?.isChosen ? 'descending' : undefined}
            >
              {isHidden && <span class="for-readers">{name}</span>}
              {!isHidden && sort && (
                <button type="button" class="sort" onClick={sort.choose}>
                  {name}
                  <span aria-hidden="true">{sort.isChosen ? ' ▼' : ' ↕'}</span>
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
