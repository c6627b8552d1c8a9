import { type AgedProcess, type AgeId, ages } from './ages.ts';
import { type Case, cases } from './cases.ts';
import type { Measured, Round } from './measure.ts';
import type { ThreadKind } from './processes.ts';
import type { SystemName } from './systems.ts';

export interface Start {
  listeningAfterMs: number;
  answeredAfterMs: number;
}

export interface Started {
  first: Start;
  /** Starts on the data that the first one left. */
  later: Start[];
}

export interface Report {
  at: string;
  node: string;
  processor: string;
  cores: number;
  isPinned: boolean;
  rounds: number;
  measuredMs: number;
  /** Cores taken by programs that are no part of the bench: the median and the maximum of all segments. */
  othersCores: { median: number; most: number };
  /** In the order of their columns, without the provider. */
  systems: readonly SystemName[];
  starts: Partial<Record<SystemName, Started>>;
  residentMb: Partial<Record<SystemName, { idle: number; after: number }>>;
  /** What calls cost by the age of the process. */
  aged: AgedProcess[];
  segments: Round[];
}

/** A build is slower than the other if a call or token takes so much more CPU, by the median of the rounds. */
const slowerFrom = 1.05;

export function median(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  if (sorted.length % 2 === 1) return sorted[middle] as number;
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function failuresOf({ aged, segments }: Report): number {
  const measured: Array<{ failed: number }> = [
    ...segments.flatMap(({ systems }) => Object.values(systems)),
    ...aged.flatMap(({ costs }) => Object.values(costs)),
  ];
  return measured.reduce((sum, { failed }) => sum + failed, 0);
}

/** Titles of the cases in which this build takes more CPU than the one that it is compared with. */
export function slowerCases(report: Report): string[] {
  if (!report.systems.includes('against')) return [];
  const isSlower = (cpu: Figure) => cpu('gateway') / cpu('against') >= slowerFrom;
  return [
    ...ages.filter(({ id }) => isSlower(ageFigures(id, report))),
    ...cases.filter((kind) => isSlower(figuresOf(kind, report, ({ cpuMsPerRequest }) => cpuMsPerRequest))),
  ].map(({ title }) => title);
}

type Figure = (system: SystemName) => number;

/** The median of a figure over the rounds of a case, by system. */
function figuresOf(kind: Case, { segments }: Report, read: (measured: Measured) => number): Figure {
  const rounds = segments.filter(({ caseId }) => caseId === kind.id);
  return (system) =>
    median(rounds.flatMap(({ systems: { [system]: measured } }) => (measured ? [read(measured)] : [])));
}

/** CPU a call at an age in milliseconds, of each system: of all threads or of one kind, the median of its processes unless told. */
function ageFigures(age: AgeId, { aged }: Report, thread?: ThreadKind, pick = median): Figure {
  return (system) =>
    pick(
      aged.flatMap(({ system: name, costs: { [age]: cost } }) =>
        name === system && cost
          ? [thread === undefined ? cost.all : (cost.threads[thread] ?? Number.NaN)]
          : [],
      ),
    );
}

/** How far apart the processes of a system are: the dearest to the cheapest. */
const spread = (values: readonly number[]) => Math.max(...values) / Math.min(...values);

/** What the gateway is compared with, as columns. */
const compared: ReadonlyArray<{ to: SystemName; title: string }> = [
  { to: 'floor', title: '÷ floor' },
  { to: 'floor-waits', title: '÷ waits' },
  { to: 'postgres', title: '÷ postgres' },
  { to: 'against', title: '÷ against' },
];

/** The report for people: a line a figure, medians over the rounds. */
export function reportText(report: Report): string {
  const columns: SystemName[] = ['direct', ...report.systems];
  const ratios = compared.filter(({ to }) => report.systems.includes(to));
  const line = (title: string, digits: number, figure: Figure): string[] => [
    `  ${title}`,
    ...columns.map((system) => number(figure(system), digits)),
    ...ratios.map(({ to }) => number(figure('gateway') / figure(to), 2)),
  ];
  const startOf =
    (read: (started: Started) => number): Figure =>
    (system) => {
      const started = report.starts[system];
      return started ? read(started) : Number.NaN;
    };
  const residentOf =
    (when: 'idle' | 'after'): Figure =>
    (system) =>
      report.residentMb[system]?.[when] ?? Number.NaN;
  const startRows = [
    ['Start with existing data, ms'],
    line(
      'to listening',
      0,
      startOf(({ later }) => median(later.map((start) => start.listeningAfterMs))),
    ),
    line(
      'to the first answered request',
      0,
      startOf(({ later }) => median(later.map((start) => start.answeredAfterMs))),
    ),
    line(
      'the same, in an empty folder',
      0,
      startOf(({ first }) => first.answeredAfterMs),
    ),
    ['Resident memory, MB'],
    line('idle', 0, residentOf('idle')),
    line('after all loads', 0, residentOf('after')),
  ];
  const rows: string[][] = [
    ['', ...columns, ...ratios.map(({ title }) => title)],
    ...ageRows(report, line),
    ...cases.flatMap((kind) => {
      if (!report.segments.some(({ caseId }) => caseId === kind.id)) return [];
      return [
        [kind.title],
        ...linesOf(kind).map(({ title, digits, read }) => line(title, digits, figuresOf(kind, report, read))),
      ];
    }),
    ...(report.segments.length === 0 ? [] : startRows),
  ];
  const widths = columns.concat(ratios.map(({ to }) => to)).map((_, index) => {
    const texts = rows.map((row) => row[index + 1] ?? '');
    return Math.max(...texts.map(({ length }) => length));
  });
  const titleWidth = Math.max(...rows.map(([title = '']) => title.length));
  const lines = rows.map(([title = '', ...figures]) =>
    [title.padEnd(titleWidth), ...figures.map((figure, at) => figure.padStart(widths[at] ?? 0))]
      .join('  ')
      .trimEnd(),
  );
  return `${heading(report)}\n\n${lines.join('\n')}\n`;
}

function ageRows(
  report: Report,
  line: (title: string, digits: number, figure: Figure) => string[],
): string[][] {
  const isMeasured = (id: AgeId) => report.aged.some(({ costs }) => costs[id] !== undefined);
  const steadyAfter: Figure = (system) =>
    median(
      report.aged.flatMap(({ system: name, steadyAfter: calls }) =>
        name === system && calls !== undefined ? [calls] : [],
      ),
    );
  return [
    ...ages
      .filter(({ id }) => isMeasured(id))
      .flatMap(({ id, title }) => [
        [`CPU of ${title}, ms a call`],
        line('all threads', 3, ageFigures(id, report)),
        line('  the dearest process ÷ the cheapest', 2, ageFigures(id, report, undefined, spread)),
        ...threadTitles.map(([kind, name]) => line(`  ${name}`, 3, ageFigures(id, report, kind))),
      ]),
    ...(isMeasured('steady') ? [line('calls until the cost no longer falls', 0, steadyAfter)] : []),
  ];
}

function heading(report: Report): string {
  const { node, processor, cores, rounds, measuredMs, othersCores, isPinned } = report;
  const pinned = isPinned
    ? 'the measured program on one core, provider and clients on another'
    : 'processes not pinned to cores';
  return (
    `Node ${node}, ${processor}, ${cores} cores; ${pinned}; medians of ${rounds} rounds of ${measuredMs / 1000} s.\n` +
    `Cores taken by other programs: ${number(othersCores.median, 2)} (median), ${number(othersCores.most, 2)} (maximum). ` +
    `Failed requests: ${failuresOf(report)}.`
  );
}

interface Line {
  title: string;
  digits: number;
  read: (measured: Measured) => number;
}

const threadTitles: ReadonlyArray<[ThreadKind, string]> = [
  ['main', 'main thread'],
  ['writer', 'writer'],
  ['content', 'content'],
  ['V8', "V8's threads"],
  ['others', 'others'],
];

/** CPU a request in milliseconds, or a token in microseconds: of all threads, and of each kind. */
function cpuLines({ shows, behaviour }: Case): Line[] {
  const isStream = shows === 'tokens';
  const factor = isStream ? 1000 / behaviour.tokens : 1;
  const digits = isStream ? 2 : 3;
  return [
    {
      title: isStream ? 'CPU a token, µs' : 'CPU a request, ms',
      digits,
      read: ({ cpuMsPerRequest }) => cpuMsPerRequest * factor,
    },
    ...threadTitles.map(([kind, title]) => ({
      title: `  ${title}`,
      digits,
      read: ({ threadMsPerRequest: { [kind]: ms } }: Measured) => (ms ?? Number.NaN) * factor,
    })),
  ];
}

function linesOf(kind: Case): Line[] {
  const cpu = cpuLines(kind);
  switch (kind.shows) {
    case 'latency':
      return [
        ...cpu,
        { title: 'p50, ms', digits: 2, read: ({ latency }) => latency.p50 },
        { title: 'p99, ms', digits: 2, read: ({ latency }) => latency.p99 },
      ];
    case 'answers':
      return [...cpu, { title: 'requests/s', digits: 0, read: ({ answersPerSecond }) => answersPerSecond }];
    case 'first-token':
      return [
        ...cpu,
        { title: 'time to first token p50, ms', digits: 2, read: ({ firstToken }) => firstToken.p50 },
        { title: 'time to first token p99, ms', digits: 2, read: ({ firstToken }) => firstToken.p99 },
        { title: 'transit of a token p50, ms', digits: 2, read: ({ transit }) => transit.p50 },
        { title: 'transit of a token p99, ms', digits: 2, read: ({ transit }) => transit.p99 },
      ];
    case 'tokens':
      return [...cpu, { title: 'tokens/s', digits: 0, read: ({ tokensPerSecond }) => tokensPerSecond }];
  }
}

/** With a comma between thousands. */
function number(value: number, digits: number): string {
  if (!Number.isFinite(value)) return '–';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
