import type { ComponentChildren } from 'preact';
import type { CallFigures } from '../data/calls-link.ts';
import { CallsFigure } from './calls-figure.tsx';

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
  /** The exact value. */
  exact: string;
  links: CallFigures;
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
        {rows.map(({ name, value, shown, exact, links }) => (
          <tr key={name}>
            <th scope="row">
              <CallsFigure text={name} what={title.toLowerCase()} of={links.calls} title={name} />
              <span class="bar" aria-hidden="true">
                <span style={{ width: `${most > 0 ? (value / most) * 100 : 0}%` }} />
              </span>
            </th>
            <td class="number">
              <CallsFigure
                text={shown}
                what={`${measure.toLowerCase()} of ${name}`}
                of={value > 0 ? links.charged : undefined}
                title={exact}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
