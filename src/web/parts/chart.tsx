import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { theme } from '../data/preferences.ts';
import { zoomTo } from '../data/zoom.ts';
import type { ChartData } from './chart-data.ts';
import { ChartNumbers } from './chart-numbers.tsx';
import { ProblemBox } from './problem.tsx';

interface ChartProps {
  title: string;
  data: ChartData;
  /** Whether the numbers are in a table of the screen. */
  hasTable?: boolean;
}

/** The part of a chart under the pointer. */
interface Hover {
  bucket: number;
  left: number;
}

/**
 * Stacked bars or lines over time, with a legend and the numbers as a table. Parts of bars lead to their calls; dragging over a part of the
 * chart shows that period on the screen.
 */
export function Chart({ title, data, hasTable = false }: ChartProps) {
  const figure = useRef<HTMLElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const hover = useSignal<Hover | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const chosen = theme.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours.
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const stopped = new AbortController();
    const draw = async () => {
      const { startPlot } = await import('./plot.ts');
      if (stopped.signal.aborted || !figure.current || !box.current) return;
      plot.current?.destroy();
      plot.current = startPlot(box.current, {
        data,
        colours: coloursOf(figure.current),
        onHover: (bucket, left) => {
          hover.value = bucket === undefined ? undefined : { bucket, left };
        },
        onZoom: (first, last) => {
          const [from, to] = [data.buckets[first], data.buckets[last]];
          if (from && to) zoomTo(from.start, to.end);
        },
        signal: stopped.signal,
      });
    };
    const drawOrTell = () => {
      draw().catch((error) => {
        failure.value = error;
      });
    };
    drawOrTell();
    dark.addEventListener('change', drawOrTell, { signal: stopped.signal });
    return () => stopped.abort();
  }, [data, chosen]);
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0)
        plot.current?.setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, []);
  return (
    <figure class="chart" ref={figure}>
      <figcaption class="for-readers">{title}</figcaption>
      {failure.value !== undefined && <ProblemBox error={failure.value} />}
      <div class="chart-area">
        <div class="chart-box" ref={box} aria-hidden="true" />
        {hover.value && <Tip data={data} hover={hover.value} width={box.current?.clientWidth ?? 0} />}
      </div>
      <ul class="legend">
        {data.series.map(({ label, tone }) => (
          <li key={label}>
            <span class={`swatch tone-${tone}`} aria-hidden="true" />
            {label}
          </li>
        ))}
      </ul>
      <span class="axis-colours" hidden />
      {!hasTable && <ChartNumbers title={title} data={data} />}
    </figure>
  );
}

/** The numbers under the pointer. */
function Tip({ data, hover, width }: { data: ChartData; hover: Hover; width: number }) {
  const { bucket, left } = hover;
  const rows = data.series.flatMap(({ label, tone, values }) => {
    const value = values[bucket];
    return value === null || value === undefined || (value === 0 && data.kind === 'bars')
      ? []
      : [{ label, tone, value }];
  });
  const isRight = left > width / 2;
  const position = isRight ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` };
  return (
    <div class="tip" aria-hidden="true" style={position}>
      <p class="quiet">{data.buckets[bucket]?.label}</p>
      {rows.map(({ label, tone, value }) => (
        <p key={label}>
          <span class={`swatch tone-${tone}`} />
          <span>{label}</span>
          <b>{data.format(value)}</b>
        </p>
      ))}
      {rows.length === 0 && <p>nothing</p>}
      {data.kind === 'bars' && rows.length > 1 && (
        <p>
          <span class="swatch" />
          <span>total</span>
          <b>{data.format(rows.reduce((sum, { value }) => sum + value, 0))}</b>
        </p>
      )}
    </div>
  );
}

/** The colours of the theme as a canvas takes them: those of variables are not resolved. */
function coloursOf(figure: HTMLElement): { series: string[]; ink: string; line: string } {
  const style = (element: Element | null) => (element ? getComputedStyle(element) : undefined);
  const axis = style(figure.querySelector('.axis-colours'));
  return {
    series: [...figure.querySelectorAll('.legend .swatch')].map((it) => style(it)?.backgroundColor ?? ''),
    ink: axis?.color ?? '',
    line: axis?.borderTopColor ?? '',
  };
}
