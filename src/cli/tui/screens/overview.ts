import { duration } from '../../../view/durations.ts';
import { type KeyNames, keyText } from '../../../view/key-names.ts';
import { briefDollars, dollars } from '../../../view/money.ts';
import { briefCount, change, count, percent } from '../../../view/numbers.ts';
import { dayAndClock } from '../../../view/times.ts';
import { allCalls, rejectedShare, errorShare as shareOfErrors } from '../../../view/usage.ts';
import { escapeCell } from '../../output/escape-controls.ts';
import type { Style } from '../../output/style.ts';
import type { Column } from '../../output/table.ts';
import { paintedWidth } from '../../output/width.ts';
import {
  type Figures,
  firstPeriod,
  loadOverview,
  type Overview,
  periods,
  type TopGroup,
} from '../services/overview-figures.ts';
import { fitPainted } from '../text/cells.ts';
import { plainCharts } from '../text/chart-style.ts';
import { bar } from '../text/charts.ts';
import type { ListColumn } from '../text/list-table.ts';
import { barPlot, barsWidth, curvePlot } from '../text/plot.ts';
import type { RenderOptions } from '../text/render-options.ts';
import { shortName } from '../text/short-name.ts';
import { recordLines, recordPage } from './pages.ts';
import type { Screen } from './screen.ts';

interface OverviewOptions {
  baseUrl: () => string;
  keyNames: KeyNames;
}

/** How the workspace does: calls, errors, cost and latency, next to the period before. */
export function overviewScreen({ baseUrl, keyNames }: OverviewOptions): Screen<TopGroup> {
  let overview: Overview | undefined;
  return {
    id: 'overview',
    title: 'Overview',
    letter: 'o',
    aliases: ['dashboard', 'home', 'stats'],
    tabs: periods.map(({ name }) => name),
    firstTab: firstPeriod,
    hasNoCount: true,
    get empty() {
      return [
        'No calls in this period. Press ] for a longer one, 1 for the calls, or send a call:',
        '  gateway respond "What is a mutex?"',
        `  SDK base URL   ${baseUrl()}/v1`,
        '  SDK API key    gateway keys default',
      ];
    },
    footer: ['open', 'next-tab', 'refresh'],
    refreshEveryMs: 15_000,
    columns: () => columnsOf(keyNames),
    async load({ client, now }, tab) {
      const found = await loadOverview(client, now(), periods[tab] ?? periods[firstPeriod]);
      overview = found;
      return found.tops;
    },
    leadsTo: ({ kind, group, isOther }, tab) =>
      isOther || group === null
        ? undefined
        : {
            screen: 'traffic',
            query: `${kind}:${group} since:${(periods[tab] ?? periods[firstPeriod]).name}`,
          },
    idOf: ({ kind, group, isOther }) => `${kind} ${isOther ? 'other' : (group ?? 'login')}`,
    copyText: (row) => nameOf(row, keyNames),
    json: (row) => row,
    summary: (rows, _services, options) =>
      overview === undefined || rows.length === 0 ? [] : summaryLines(overview, options),
    preview: (row, options) => [
      ...recordLines(row, recordColumns(keyNames), options),
      '',
      ...(overview ? costsLines(row.costs, overview, options) : []),
    ],
    open: async (row) =>
      recordPage(`${row.kind} ${nameOf(row, keyNames)}`, row, {
        columns: recordColumns(keyNames),
        more: (options) => (overview ? costsLines(row.costs, overview, options) : []),
      }),
  };
}

const nameOf = ({ kind, group, isOther }: TopGroup, keyNames: KeyNames) =>
  isOther ? 'all others' : kind === 'key' ? keyText(group, keyNames) : (group ?? '–');

function columnsOf(keyNames: KeyNames): ListColumn<TopGroup>[] {
  return [
    { title: 'by', width: 5, text: ({ kind }) => kind, style: () => 'dim' },
    {
      title: 'most used',
      width: 14,
      grows: true,
      text: (row, { width }) => shortName(nameOf(row, keyNames), width),
    },
    {
      title: 'calls',
      width: 7,
      align: 'right',
      spare: 1,
      value: allCalls,
      text: (row) => briefCount(allCalls(row)),
    },
    {
      title: 'errors',
      width: 7,
      align: 'right',
      spare: 3,
      value: shareOfErrors,
      text: (row) => errorShare(row),
      style: (row) => errorStyle(row),
    },
    {
      title: 'rejected',
      width: 8,
      align: 'right',
      spare: 3,
      value: ({ rejected }) => rejected,
      text: ({ rejected }) => (rejected === 0 ? '–' : briefCount(rejected)),
      style: ({ rejected }) => (rejected === 0 ? 'dim' : 'yellow'),
    },
    {
      title: 'tokens',
      width: 7,
      align: 'right',
      spare: 4,
      value: ({ tokens }) => tokens,
      text: ({ tokens }) => briefCount(tokens),
    },
    {
      title: 'cost',
      width: 9,
      align: 'right',
      value: ({ costUsd }) => costUsd,
      text: ({ costUsd }) => briefDollars(costUsd),
    },
    {
      title: 'share',
      isChart: true,
      width: 10,
      grows: true,
      spare: 2,
      value: ({ share }) => share,
      text: ({ share, barShare }, { width, isPlain }) =>
        isPlain ? percent(share) : bar(barShare, Math.min(width, shareWidthMax)),
      style: () => 'cyan',
    },
  ];
}

const shareWidthMax = 40;

const recordColumns = (keyNames: KeyNames): Column<TopGroup>[] => [
  { title: 'name', value: (row) => nameOf(row, keyNames) },
  { title: 'calls', value: allCalls, show: (row) => count(allCalls(row)) },
  { title: 'rejected', value: ({ rejected }) => rejected, show: ({ rejected }) => count(rejected) },
  {
    title: 'errors',
    value: ({ errors }) => errors,
    show: (row) => `${count(row.errors)} (${errorShare(row)})`,
  },
  { title: 'tokens', value: ({ tokens }) => tokens, show: ({ tokens }) => count(tokens) },
  { title: 'cost_usd', value: ({ costUsd }) => costUsd, show: ({ costUsd }) => dollars(costUsd) },
];

type Counted = Pick<Figures, 'requests' | 'errors'>;

function errorShare(counted: Counted): string {
  const share = shareOfErrors(counted);
  return share === 0 ? '–' : percent(share);
}

const badShare = 0.05;

function errorStyle(counted: Counted): Style | undefined {
  if (counted.errors === 0) return 'dim';
  return shareOfErrors(counted) >= badShare ? 'red' : 'yellow';
}

interface Tile {
  label: string;
  value: string;
  /** Next to the period before. */
  change: string;
  style?: Style | undefined;
}

function tilesOf({ now, before }: Overview): Tile[] {
  const wasErrors = before.requests === 0 ? '' : `was ${errorShare(before).replace('–', '0 %')}`;
  return [
    { label: 'calls', value: count(allCalls(now)), change: changeText(allCalls(now), allCalls(before)) },
    {
      label: 'errors',
      value: errorShare(now).replace('–', 'none'),
      change: wasErrors,
      style: now.errors === 0 ? undefined : errorStyle(now),
    },
    {
      label: 'rejected',
      value: now.rejected === 0 ? 'none' : count(now.rejected),
      change: allCalls(before) === 0 ? '' : `was ${percent(rejectedShare(before))}`,
      style: now.rejected === 0 ? undefined : 'yellow',
    },
    {
      label: 'cost',
      value: briefDollars(now.costUsd),
      change: changeText(Number(now.costUsd), Number(before.costUsd)),
    },
    { label: 'total p95', value: duration(now.totalMs), change: changeText(now.totalMs, before.totalMs) },
    {
      label: 'first p95',
      value: duration(now.firstTokenMs),
      change: changeText(now.firstTokenMs, before.firstTokenMs),
    },
    { label: 'tokens', value: briefCount(now.tokens), change: changeText(now.tokens, before.tokens) },
  ];
}

/** Changes beyond this are shown as a multiple. */
const multipleFrom = 10;

function changeText(now: number | null, before: number | null): string {
  if (now === null || before === null) return '';
  if (before === 0) return now === 0 ? '' : 'none before';
  const factor = now / before;
  if (factor >= multipleFrom) return `${Math.round(factor)} × before`;
  return change(now, before) ?? '';
}

const tileWidthMin = 13;
const tileWidthMax = 22;
/** Narrower panes have a line per figure. */
const tilesWidthMin = 4 * tileWidthMin;
/** What the list needs: its titles and some rows. */
const listLinesMin = 8;
const plotLinesMin = 3;
const plotLinesMax = 12;
const pagePlotLines = 8;
/** The title above a chart and its times below. */
const plotFrameLines = 2;
const twoPlotsMin = 68;
const plotGap = 4;

function summaryLines(overview: Overview, options: RenderOptions): string[] {
  const { width, height = 0, isPlain } = options;
  const isNarrow = width < tilesWidthMin || isPlain;
  const above = isNarrow ? figureLines(overview, options) : tileLines(overview, options);
  const left = height - above.length - listLinesMin - 2;
  if (isPlain) return [...above, '', ...seriesLines(overview).slice(left > 0 ? -left : Infinity), ''];
  const room = left - plotFrameLines;
  if (room < plotLinesMin) return [...above, ''];
  const lines = Math.min(plotLinesMax, room);
  const isTwo = width >= twoPlotsMin;
  const each = isTwo ? Math.floor((width - plotGap) / 2) : width;
  const costs = costPlot(overview, { ...options, width: each }, lines);
  if (!isTwo) return [...above, '', ...costs, ''];
  const right = firstTokenPlot(overview, { ...options, width: each }, lines);
  const joined = costs.map((line, at) => fitPainted(line, each) + ' '.repeat(plotGap) + (right[at] ?? ''));
  return [...above, '', ...joined, ''];
}

/** Figures next to each other, with what changed below. */
function tileLines(overview: Overview, { width, paint }: RenderOptions): string[] {
  const all = tilesOf(overview);
  const tiles = all.slice(0, Math.min(all.length, Math.floor(width / tileWidthMin)));
  const each = Math.min(tileWidthMax, Math.floor(width / tiles.length));
  const line = (text: (tile: Tile) => string) => tiles.map((tile) => fitPainted(text(tile), each)).join('');
  return [
    line(({ label }) => paint('dim', label)),
    line(({ value, style }) => paint('bold', style ? paint(style, value) : value)),
    line(({ change }) => paint('dim', change)),
  ];
}

/** A line per figure. */
function figureLines(overview: Overview, { paint }: RenderOptions): string[] {
  return tilesOf(overview).map(({ label, value, change }) =>
    `${paint('dim', label.padEnd(16))} ${value.padEnd(9)} ${paint('dim', change)}`.trimEnd(),
  );
}

/** What the charts show, in numbers. */
function seriesLines({ buckets, costs, errors, firstToken }: Overview): string[] {
  const usd = (cost: number) => briefDollars(String(cost));
  const lines = buckets.flatMap(({ start }, at) =>
    (costs[at] ?? 0) === 0 && (errors[at] ?? 0) === 0
      ? []
      : [`${localLabel(start)}  cost ${usd(costs[at] ?? 0)}  failed or rejected ${errors[at] ?? 0}`],
  );
  const latest = firstToken.p50.flatMap((p50, at) => {
    const p95 = firstToken.p95[at] ?? null;
    if (p50 === null || p95 === null) return [];
    const start = firstToken.buckets[at]?.start ?? '';
    return [`${localLabel(start)}  first token p50 ${duration(p50)}  p95 ${duration(p95)}`];
  });
  return [...lines, ...latest];
}

/** The cost in each bucket, as a chart or in numbers. */
function costsLines(costs: readonly number[], overview: Overview, options: RenderOptions): string[] {
  const { buckets } = overview;
  if (!options.isPlain) return costPlot({ ...overview, costs }, options, pagePlotLines);
  return buckets.flatMap(({ start }, at) =>
    costs[at] ? [`${localLabel(start)}  ${briefDollars(String(costs[at]))}`] : [],
  );
}

type Costs = Pick<Overview, 'buckets' | 'period'> & { costs: readonly number[] };

function costPlot({ buckets, costs, period }: Costs, options: RenderOptions, height: number): string[] {
  const { width, paint, charts = plainCharts } = options;
  const most = Math.max(0, ...costs);
  const label = briefDollars(String(most));
  const gutter = label.length + 1;
  const room = width - gutter;
  const title = `cost by ${{ '15m': 'quarter of an hour', hour: 'hour', day: 'day' }[period.bucket]}`;
  const shown = most === 0 ? [] : costs;
  return framed({
    title: paint('dim', title),
    lines: barPlot(shown, { width: room, height, style: charts }),
    label,
    axis: axisLine(buckets, barsWidth(costs.length, room, charts)),
    gutter,
    options,
  });
}

function firstTokenPlot({ firstToken }: Overview, options: RenderOptions, height: number): string[] {
  const { width, paint, charts = plainCharts } = options;
  const { p50, p95, buckets } = firstToken;
  const most = Math.max(0, ...p95.map((value) => value ?? 0));
  const label = most === 0 ? '–' : duration(most);
  const gutter = label.length + 1;
  const room = width - gutter;
  const legend = `${charts.paint('first', 'p50')} ${paint('dim', '/')} ${charts.paint('second', 'p95')}`;
  const lines = curvePlot(
    [
      { values: p50, colour: 'first' },
      { values: p95, colour: 'second' },
    ],
    { width: room, height, style: charts },
  );
  const title = `${paint('dim', 'first token')} ${legend}`;
  return framed({ title, lines, label, axis: axisLine(buckets, room), gutter, options });
}

interface Frame {
  title: string;
  lines: string[];
  /** Of the top of the chart. */
  label: string;
  axis: string;
  gutter: number;
  options: RenderOptions;
}

function framed({ title, lines, label, axis, gutter, options: { paint } }: Frame): string[] {
  const blank = ' '.repeat(gutter);
  return [
    blank + title,
    ...lines.map((line, at) => (at === 0 ? paint('dim', `${label} `) : blank) + line),
    blank + paint('dim', axis),
  ];
}

/** When the chart begins and ends. */
function axisLine(buckets: Overview['buckets'], width: number): string {
  const first = buckets[0];
  if (!first) return '';
  const [from, to] = [localLabel(first.start), 'now'];
  return from + ' '.repeat(Math.max(1, width - paintedWidth(from) - to.length)) + to;
}

/** `21 Nov, 14:00`. */
const localLabel = (iso: string) => escapeCell(dayAndClock(iso));
