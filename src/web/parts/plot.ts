import uPlot from 'uplot';
import { clock, day } from '../../view/times.ts';
import type { ChartData } from './chart-data.ts';

/** The only file that uses uPlot; it is loaded when the first chart is drawn. */

interface PlotOptions {
  data: ChartData;
  colours: { series: readonly string[]; ink: string; line: string };
  onHover(bucket: number | undefined, left: number): void;
  /** Called with the buckets that were dragged over, the last one included. */
  onZoom(first: number, last: number): void;
  /** Removes the plot's listeners. */
  signal: AbortSignal;
}

const font = '11px system-ui, sans-serif';
const dayS = 86_400;
const wholeSteps = Array.from({ length: 13 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

/** Draws a chart into an element. */
export function startPlot(element: HTMLElement, options: PlotOptions): uPlot {
  const { data, colours, signal } = options;
  const shown = data.kind === 'bars' ? stacked(data) : { rows: data.series.map(({ values }) => values) };
  const order = data.series.map((_, index) => index);
  // The sum of all is drawn first, and covered by the sums of fewer.
  if (data.kind === 'bars') order.reverse();
  const { times, first, last } = timesOf(data);
  const plotOptions: uPlot.Options = {
    width: element.clientWidth || 300,
    height: element.clientHeight || 180,
    // The last label of an axis of times is centered at its end.
    padding: [10, 22, 0, 0],
    legend: { show: false },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), data.timeZone),
    scales: {
      x: { time: true, range: () => [first, last] },
      y: { range: (_, __, most) => [0, niceMost(most)] },
    },
    cursor: {
      y: false,
      points: { show: data.kind === 'lines' },
      drag: { x: true, y: false, setScale: false, dist: dragMin },
      // Also where the link is over the chart.
      bind: {
        mousemove: (_, __, handle) => handle,
        mousedown: (_, __, handle) => (event) => (event.button === 0 ? handle(event) : null),
      },
    },
    axes: axesOf(data, colours),
    series: [
      {},
      ...order.map((index) => ({
        label: data.series[index]?.label ?? '',
        ...(data.kind === 'bars' ? barStyle(colours, index) : lineStyle(colours, index)),
      })),
    ],
    hooks: {
      setCursor: [
        ({ cursor: { idx, left = -1 } }) => options.onHover(left < 0 ? undefined : (idx ?? undefined), left),
      ],
      draw: [(plot) => drawMarks(plot, options)],
      setSelect: [(plot) => zoom(plot, options)],
    },
  };
  const rows = order.map((index) => [...(shown.rows[index] ?? [])]);
  const plot = new uPlot(plotOptions, [times, ...rows] as uPlot.AlignedData, element);
  plot.over.addEventListener('mouseleave', () => options.onHover(undefined, 0), { signal });
  if (data.callsOf) addLink(plot, shown.rows, options);
  return plot;
}

/** Pixels; less is a click. */
const dragMin = 5;

/** A link over the chart to the calls of the part of a bar that is pointed at. Keyboards have those of the numbers. */
function addLink(
  plot: uPlot,
  rows: readonly (readonly (number | null)[])[],
  { data, signal }: PlotOptions,
): void {
  const link = document.createElement('a');
  link.className = 'chart-link';
  link.tabIndex = -1;
  link.draggable = false;
  plot.over.append(link);
  plot.over.addEventListener(
    'mousemove',
    () => {
      const { idx, top = 0 } = plot.cursor;
      const value = plot.posToVal(top, 'y');
      const series = idx == null ? -1 : rows.findIndex((row) => (row[idx] ?? 0) >= value);
      const of = idx == null || series < 0 ? undefined : data.callsOf?.(idx, series);
      if (of && of.calls > 0) link.href = of.href;
      else link.removeAttribute('href');
    },
    { signal },
  );
  let pressedAt = 0;
  plot.over.addEventListener(
    'mousedown',
    ({ clientX }) => {
      pressedAt = clientX;
    },
    { signal },
  );
  // The end of a drag is no click.
  link.addEventListener('click', (event) => {
    if (Math.abs(event.clientX - pressedAt) > dragMin) event.preventDefault();
  });
}

function zoom(plot: uPlot, { data: { buckets }, onZoom }: PlotOptions): void {
  const { left, width } = plot.select;
  if (width <= dragMin) return;
  const [from, to] = [left, left + width].map((at) => plot.posToVal(at, 'x') * 1_000) as [number, number];
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  const first = buckets.findIndex(({ end }) => end > from);
  const last = buckets.findLastIndex(({ start }) => start < to);
  if (first >= 0 && last >= first) onZoom(first, last);
}

/** In seconds: bars begin at the start of their bucket, points are in its middle. */
function timesOf({ kind, buckets }: ChartData): { times: number[]; first: number; last: number } {
  const first = (buckets[0]?.start ?? 0) / 1_000;
  const last = (buckets.at(-1)?.end ?? 1) / 1_000;
  const at = ({ start, end }: { start: number; end: number }) =>
    kind === 'bars' ? start : start + (end - start) / 2;
  return { times: buckets.map((bucket) => at(bucket) / 1_000), first, last };
}

/** For each series the sum of it and those before it. */
function stacked({ series, buckets }: ChartData): { rows: number[][] } {
  const sums = buckets.map(() => 0);
  const rows = series.map(({ values }) =>
    values.map((value, bucket) => {
      const total = (sums[bucket] ?? 0) + (value ?? 0);
      sums[bucket] = total;
      return total;
    }),
  );
  return { rows };
}

/** A little more than the largest value; an empty chart has an axis, too. */
function niceMost(most: number | null): number {
  return most === null || most <= 0 ? 1 : most * 1.05;
}

function barStyle(colours: PlotOptions['colours'], index: number): Partial<uPlot.Series> {
  const bars = uPlot.paths.bars?.({ size: [0.82, 44], align: 1 });
  const colour = colours.series[index] ?? '';
  return { fill: colour, width: 0, points: { show: false }, ...(bars && { paths: bars }) };
}

function lineStyle(colours: PlotOptions['colours'], index: number): Partial<uPlot.Series> {
  const stroke = colours.series[index] ?? '';
  return {
    stroke,
    width: 1.75,
    // Points without neighbours have no line.
    points: {
      show: true,
      size: 5,
      fill: stroke,
      filter: (plot, series) => {
        const values = plot.data[series] ?? [];
        const isIsolated = (at: number) =>
          values[at] != null && values[at - 1] == null && values[at + 1] == null;
        return [...values.keys()].filter(isIsolated);
      },
    },
  };
}

function axesOf(data: ChartData, { ink, line }: PlotOptions['colours']): uPlot.Axis[] {
  const shared = { stroke: ink, font, ticks: { show: false } };
  return [
    {
      ...shared,
      grid: { show: false },
      size: 28,
      gap: 8,
      space: 64,
      values: (_, splits, __, ___, increment) =>
        splits.map((seconds) => timeLabel(seconds, increment, data.timeZone)),
    },
    {
      ...shared,
      grid: { stroke: line, width: 1 },
      gap: 6,
      space: 36,
      ...(data.isCount && { incrs: wholeSteps }),
      size: (_, labels) => Math.max(30, ...(labels ?? []).map((label) => label.length * 6.2 + 12)),
      values: (_, splits) => splits.map((value) => data.format(value)),
    },
  ];
}

/** Days at midnight and where only they are named, else the time of the day. */
function timeLabel(seconds: number, increment: number, timeZone: string): string {
  const time = clock(seconds * 1_000, timeZone);
  return increment >= dayS || time === '00:00' ? day(seconds * 1_000, timeZone) : time;
}

function drawMarks(plot: uPlot, { data, colours }: PlotOptions): void {
  const { ctx, bbox } = plot;
  for (const { at, label } of data.marks ?? []) {
    const left = plot.valToPos(at / 1_000, 'x', true);
    if (left < bbox.left || left > bbox.left + bbox.width) continue;
    ctx.save();
    ctx.strokeStyle = colours.ink;
    ctx.fillStyle = colours.ink;
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    ctx.textBaseline = 'top';
    ctx.fillText(label, left + 4, bbox.top + 2);
    ctx.restore();
  }
}
