import { useSignal } from '@preact/signals';
import type { ChartData } from './chart-data.ts';
import { ChartNumbers } from './chart-numbers.tsx';

interface RangeBarsProps {
  title: string;
  data: ChartData;
  /** Called with the first and the last bucket that the pointer was dragged over, or the one that was clicked on. */
  onRange(first: number, last: number): void;
}

/** Small stacked bars over time, of which a range can be chosen by dragging over them. */
export function RangeBars({ title, data, onRange }: RangeBarsProps) {
  const dragged = useSignal<{ from: number; to: number } | undefined>(undefined);
  const { buckets, series, format } = data;
  const totals = buckets.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const most = Math.max(1, ...totals);
  const bucketAt = (event: PointerEvent): number => {
    const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
    const at = Math.floor(((event.clientX - left) / width) * buckets.length);
    return Math.min(buckets.length - 1, Math.max(0, at));
  };
  const [first, last] = dragged.value
    ? [Math.min(dragged.value.from, dragged.value.to), Math.max(dragged.value.from, dragged.value.to)]
    : [-1, -2];
  return (
    <figure class="range-bars">
      <figcaption class="for-readers">{title}</figcaption>
      <div
        class="range-bars-area"
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = bucketAt(event);
          dragged.value = { from: at, to: at };
        }}
        onPointerMove={(event) => {
          if (dragged.value) dragged.value = { ...dragged.value, to: bucketAt(event) };
        }}
        onPointerUp={() => {
          if (dragged.value) onRange(first, last);
          dragged.value = undefined;
        }}
        onPointerCancel={() => {
          dragged.value = undefined;
        }}
      >
        {buckets.map(({ start, label }, at) => (
          <span
            key={start}
            class={at >= first && at <= last ? 'range-bar is-chosen' : 'range-bar'}
            title={`${label}: ${series.map((one) => `${one.label} ${format(one.values[at] ?? 0)}`).join(', ')}`}
          >
            {series.map(({ label: name, tone, values }) => (
              <span
                key={name}
                class={`tone-${tone}`}
                style={{ height: `${((values[at] ?? 0) / most) * 100}%` }}
              />
            ))}
          </span>
        ))}
      </div>
      <p class="range-bars-ends quiet">
        <span>{buckets[0]?.label}</span>
        <span>{buckets.at(-1)?.label}</span>
      </p>
      <ChartNumbers title={title} data={data} />
    </figure>
  );
}
