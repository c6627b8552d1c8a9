import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { isNarrow } from '../data/narrow.ts';
import { type ColumnSort, TableHead } from './table-head.tsx';

export interface TableColumn<Row> {
  name: string;
  /** The class of its cells; `number` aligns to the right. */
  kind?: string;
  /** The whole text of a cell, shown when it is pointed at. */
  whole?: (row: Row) => string;
  sort?: ColumnSort | undefined;
  show: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The key of the row that the keyboard is on. */
  selected?: string | undefined;
  open?: (row: Row) => void;
  /** Whether there are further rows, which `onEnd` loads. */
  hasMore: boolean;
  onEnd: () => void;
  /** Where the table is scrolled to, which its owner keeps while it is not shown. */
  place?: { top: number };
}

const rowHeights = { wide: 30, narrow: 50 };
/** Rows beyond those that are visible. */
const spare = 12;

/** A table of many rows, of which only the visible ones are elements. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf, selected, open, hasMore, onEnd, place } = props;
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(place?.top ?? 0);
  const height = useSignal(800);
  const rowHeight = isNarrow.value ? rowHeights.narrow : rowHeights.wide;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [height]);
  useLayoutEffect(() => {
    if (place && box.current) box.current.scrollTop = place.top;
  }, [place]);
  const first = Math.max(0, Math.floor(top.value / rowHeight) - spare);
  const end = Math.min(rows.length, Math.ceil((top.value + height.value) / rowHeight) + spare);
  useEffect(() => {
    if (hasMore && end >= rows.length) onEnd();
  }, [hasMore, end, rows.length, onEnd]);
  useEffect(() => {
    const at = rows.findIndex((row) => keyOf(row) === selected);
    const element = box.current;
    if (at < 0 || !element) return;
    const [from, to] = [at * rowHeight, (at + 2) * rowHeight];
    if (from < element.scrollTop) element.scrollTop = from;
    else if (to > element.scrollTop + element.clientHeight) element.scrollTop = to - element.clientHeight;
  }, [selected, rows, keyOf, rowHeight]);
  return (
    <section
      class="table-box"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys.
      tabIndex={0}
      aria-label={label}
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop;
        if (place) place.top = top.value;
      }}
    >
      <table aria-rowcount={hasMore ? -1 : rows.length + 1}>
        <TableHead columns={columns} />
        <tbody>
          <Space height={first * rowHeight} />
          {rows.slice(first, end).map((row, at) => (
            <tr
              key={keyOf(row)}
              aria-rowindex={first + at + 2}
              aria-selected={keyOf(row) === selected || undefined}
              style={{ height: `${rowHeight}px` }}
              onClick={(event) => {
                // Links and selected text work as usual.
                if (event.target instanceof Element && event.target.closest('a, button, input, label'))
                  return;
                if (getSelection()?.toString() === '') open?.(row);
              }}
            >
              {columns.map(({ name, kind, whole, show }) => (
                <td key={name} class={kind} title={whole?.(row)}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
          <Space height={(rows.length - end) * rowHeight} />
        </tbody>
      </table>
    </section>
  );
}

function Space({ height }: { height: number }) {
  return height > 0 ? <tr class="space" style={{ height: `${height}px` }} /> : null;
}
