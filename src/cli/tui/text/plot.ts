import { type ChartColour, type ChartStyle, plainCharts } from './chart-style.ts';

/** A curve of a chart; null where there is no value. */
export interface Curve {
  values: readonly (number | null)[];
  colour: ChartColour;
}

interface PlotSize {
  /** In cells. */
  width: number;
  /** In lines. */
  height: number;
  style?: ChartStyle | undefined;
}

/** A braille cell has two columns of four dots. Source: Unicode, U+2800 to U+28FF. */
const dotColumns = 2;
const dotRows = 4;
const dotBits = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const;
const brailleBase = 0x2800;
/** The kernel's console has no finer blocks. */
const halfBlock = '▄';
const fullBlock = '█';
const shade = '░';
/** Narrower bars have no gap between them. */
const gapFromDots = 4;

/** Numbers as bars from the left to the right, in at most `width` cells. Every number above 0 shows. */
export function barPlot(
  values: readonly number[],
  { width, height, style = plainCharts }: PlotSize,
  colour: ChartColour = 'first',
): string[] {
  const columns = style.glyphs === 'braille' ? dotColumns * width : width;
  const rows = style.glyphs === 'braille' ? dotRows * height : 2 * height;
  const most = Math.max(...values, 0);
  const heights = barHeights(values, columns).map((value) =>
    value === null || value <= 0 || most === 0 ? 0 : Math.max(1, Math.round((value / most) * rows)),
  );
  const cells = Array.from({ length: height }, (_, line) => {
    if (style.glyphs === 'blocks') return heights.map((of) => blockOf(of - 2 * (height - 1 - line))).join('');
    const bottom = dotRows * (height - 1 - line);
    return brailleLine(width, (column, row) => (heights[column] ?? 0) > bottom + (dotRows - 1 - row));
  });
  return cells.map((line) => style.paint(colour, line));
}

/** How many cells the bars of so many numbers take. */
export function barsWidth(count: number, width: number, { glyphs }: ChartStyle = plainCharts): number {
  const perCell = glyphs === 'braille' ? dotColumns : 1;
  const each = Math.floor((perCell * width) / Math.max(1, count));
  return each < 1 ? width : Math.min(width, Math.ceil((each * count) / perCell));
}

/** The number that each column shows; null between bars. Of several numbers in one column, the highest. */
function barHeights(values: readonly number[], columns: number): (number | null)[] {
  const each = Math.floor(columns / Math.max(1, values.length));
  if (each < 1) {
    return Array.from({ length: columns }, (_, column) => {
      const from = Math.floor((column * values.length) / columns);
      const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / columns));
      return Math.max(...values.slice(from, to));
    });
  }
  const gap = each >= gapFromDots ? 1 : 0;
  return values.flatMap((value) => Array.from({ length: each }, (_, at) => (at < each - gap ? value : null)));
}

function blockOf(halves: number): string {
  if (halves <= 0) return ' ';
  return halves === 1 ? halfBlock : fullBlock;
}

function brailleLine(width: number, isSet: (column: number, row: number) => boolean): string {
  let line = '';
  for (let cell = 0; cell < width; cell += 1) {
    let bits = 0;
    for (const [row, pair] of dotBits.entries())
      for (const [column, bit] of pair.entries()) if (isSet(cell * dotColumns + column, row)) bits |= bit;
    line += bits === 0 ? ' ' : String.fromCodePoint(brailleBase + bits);
  }
  return line;
}

/** Curves over one another, the last in front. With blocks, the highest one is a shade behind the others. */
export function curvePlot(
  curves: readonly Curve[],
  { width, height, style = plainCharts }: PlotSize,
): string[] {
  const most = Math.max(0, ...curves.flatMap(({ values }) => values.map((value) => value ?? 0)));
  if (style.glyphs === 'blocks') return shadedColumns(curves, { width, height, style, most });
  const rows = dotRows * height;
  const dots = curves.map(({ values }) => curveDots(values, { columns: dotColumns * width, rows, most }));
  return Array.from({ length: height }, (_, line) => {
    const cells = dots.map((set) =>
      brailleLine(width, (column, row) => set.has((dotRows * line + row) * dotColumns * width + column)),
    );
    return joinCells(cells, curves, width, style);
  });
}

/** Dots of several curves in a cell are joined, in the colour of the front one. */
function joinCells(
  lines: readonly string[],
  curves: readonly Curve[],
  width: number,
  { paint }: ChartStyle,
): string {
  let painted = '';
  let run = { front: -1, text: '' };
  const end = () => {
    painted += run.front < 0 ? run.text : paint(curves[run.front]?.colour ?? 'first', run.text);
  };
  for (let cell = 0; cell < width; cell += 1) {
    let bits = 0;
    let front = -1;
    for (const [curve, line] of lines.entries()) {
      const code = line.charCodeAt(cell);
      if (code < brailleBase) continue;
      bits |= code - brailleBase;
      front = curve;
    }
    if (front !== run.front) {
      end();
      run = { front, text: '' };
    }
    run.text += bits === 0 ? ' ' : String.fromCodePoint(brailleBase + bits);
  }
  end();
  return painted;
}

interface Canvas {
  columns: number;
  rows: number;
  most: number;
}

/** The dots of a curve, by their number from the upper left. */
function curveDots(values: readonly (number | null)[], { columns, rows, most }: Canvas): Set<number> {
  const dots = new Set<number>();
  const points = values.map((value, at) =>
    value === null
      ? undefined
      : {
          column: columnOf(at, values.length, columns),
          row: rows - 1 - Math.round((most === 0 ? 0 : value / most) * (rows - 1)),
        },
  );
  for (const [at, point] of points.entries()) {
    if (!point) continue;
    dots.add(point.row * columns + point.column);
    const next = points[at + 1];
    if (!next) continue;
    const steps = Math.max(Math.abs(next.column - point.column), Math.abs(next.row - point.row));
    for (let step = 1; step < steps; step += 1) {
      const column = point.column + Math.round(((next.column - point.column) * step) / steps);
      const row = point.row + Math.round(((next.row - point.row) * step) / steps);
      dots.add(row * columns + column);
    }
  }
  return dots;
}

/** The middle of the stretch that one of `count` values has. */
function columnOf(at: number, count: number, columns: number): number {
  return Math.min(columns - 1, Math.floor(((at + 0.5) * columns) / Math.max(1, count)));
}

function shadedColumns(
  curves: readonly Curve[],
  { width, height, style, most }: Required<PlotSize> & { style: ChartStyle; most: number },
): string[] {
  const heightsOf = ({ values }: Curve) =>
    barHeights(
      values.map((value) => value ?? 0),
      width,
    ).map((value) => (value === null || most === 0 ? 0 : Math.round((value / most) * height)));
  const [front, ...behind] = curves.map((curve) => ({ colour: curve.colour, heights: heightsOf(curve) }));
  return Array.from({ length: height }, (_, line) => {
    const level = height - line;
    return Array.from({ length: width }, (_cell, column) => {
      if (front && (front.heights[column] ?? 0) >= level) return style.paint(front.colour, fullBlock);
      const found = behind.find(({ heights }) => (heights[column] ?? 0) >= level);
      return found ? style.paint(found.colour, shade) : ' ';
    }).join('');
  });
}
