import type { ComponentChildren } from 'preact';

interface RankedProps {
  /** What the rows are: `Model`. */
  title: string;
  /** What they are ranked by: `Cost`. */
  measure: string;
  rows: readonly RankedRow[];
  empty: ComponentChildren;
}

export interface RankedRow {
  name: string;
  value: number;
  shown: string;
  /** What else is known of it. */
  note?: string;
  href: string;
}

/** Names with their values and bars, the largest first; each leads to its calls. */
export function Ranked({ title, measure, rows, empty }: RankedProps) {
  if (rows.length === 0) return <p class="quiet">{empty}</p>;
  const most = Math.max(...rows.map(({ value }) => value));
  return (
    <table class="ranked">
      <colgroup>
        <col />
        <col class="ranked-value" />
      </colgroup>
      <thead class="for-readers">
        <tr>
          <th scope="col">{title}</th>
          <th scope="col">{measure}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, value, shown, note, href }) => (
          <tr key={name}>
            <th scope="row">
              <a href={href} title={name}>
                {name}
              </a>
              <span class="bar" aria-hidden="true">
                <span style={{ width: `${most > 0 ? (value / most) * 100 : 0}%` }} />
              </span>
            </th>
            <td class="number" title={note}>
              {shown}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
