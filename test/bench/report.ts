import { type Case, cases } from './cases.ts';
import type { Measured, Round } from './measure.ts';

export interface Start {
  listeningAfterMs: number;
  answeredAfterMs: number;
}

export interface Report {
  at: string;
  node: string;
  processor: string;
  cores: number;
  isPinned: boolean;
  rounds: number;
  measuredMs: number;
  /** Cores taken by programs that are no part of the bench: the middle and the most of all segments. */
  othersCores: { median: number; most: number };
  firstStart: Start;
  /** Starts on the data that the first one left. */
  laterStarts: Start[];
  residentMb: { idle: number; after: number };
  segments: Round[];
}

export function median(values: number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  if (sorted.length % 2 === 1) return sorted[middle] as number;
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function failuresOf(report: Report): number {
  return report.segments.reduce((sum, { direct, gateway }) => sum + direct.failed + gateway.failed, 0);
}

type Row = [what: string, direct: string, gateway: string, compared: string];

/** The report for people: one line a figure, medians over the rounds. */
export function reportText(report: Report): string {
  const later = (read: (start: Start) => number) => number(median(report.laterStarts.map(read)), 0);
  const rows: Row[] = [
    ['', 'direct', 'gateway', ''],
    ...cases.flatMap((kind) => rowsOf(kind, report.segments)),
    ['Start with existing data, ms', '', '', ''],
    ['  to listening', '', later((start) => start.listeningAfterMs), ''],
    ['  to the first answered request', '', later((start) => start.answeredAfterMs), ''],
    ['  the same, on an empty folder', '', number(report.firstStart.answeredAfterMs, 0), ''],
    ['Resident memory, MB', '', '', ''],
    ['  idle', '', number(report.residentMb.idle, 0), ''],
    ['  after all loads', '', number(report.residentMb.after, 0), ''],
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map(([what, ...figures]) =>
    [what.padEnd(widths[0] ?? 0), ...figures.map((figure, at) => figure.padStart(widths[at + 1] ?? 0))]
      .join('  ')
      .trimEnd(),
  );
  return `${heading(report)}\n\n${lines.join('\n')}\n`;
}

function heading(report: Report): string {
  const { node, processor, cores, rounds, measuredMs, othersCores, isPinned } = report;
  const held = isPinned
    ? 'gateway on one core, provider and clients on another'
    : 'processes not held to cores';
  return (
    `Node ${node}, ${processor}, ${cores} cores; ${held}; medians of ${rounds} rounds of ${measuredMs / 1000} s.\n` +
    `Cores taken by other programs: ${number(othersCores.median, 2)} (median), ${number(othersCores.most, 2)} (most). ` +
    `Failed requests: ${failuresOf(report)}.`
  );
}

function rowsOf(kind: Case, segments: Round[]): Row[] {
  const rounds = segments.filter(({ caseId }) => caseId === kind.id);
  if (rounds.length === 0) return [];
  const both = (read: (measured: Measured) => number) => ({
    direct: median(rounds.map(({ direct }) => read(direct))),
    gateway: median(rounds.map(({ gateway }) => read(gateway))),
    added: median(rounds.map(({ direct, gateway }) => read(gateway) - read(direct))),
  });
  const added = (name: string, read: (measured: Measured) => number): Row => {
    const { direct, gateway, added } = both(read);
    return [`  ${name}`, number(direct, 2), number(gateway, 2), `${added < 0 ? '' : '+'}${number(added, 2)}`];
  };
  const ratio = (name: string, read: (measured: Measured) => number): Row => {
    const { direct, gateway } = both(read);
    return [`  ${name}`, number(direct, 0), number(gateway, 0), `× ${number(gateway / direct, 3)}`];
  };
  const cpu: Row = ['  CPU a request, ms', '', number(both((one) => one.cpuMsPerRequest).gateway, 3), ''];
  const title: Row = [kind.title, '', '', ''];
  switch (kind.shows) {
    case 'latency':
      return [
        title,
        added('p50, ms', ({ latency }) => latency.p50),
        added('p99, ms', ({ latency }) => latency.p99),
        cpu,
      ];
    case 'answers':
      return [title, ratio('requests/s', ({ answersPerSecond }) => answersPerSecond), cpu];
    case 'first-token':
      return [
        title,
        added('time to first token p50, ms', ({ firstToken }) => firstToken.p50),
        added('time to first token p99, ms', ({ firstToken }) => firstToken.p99),
        added('way of a token p50, ms', ({ transit }) => transit.p50),
        added('way of a token p99, ms', ({ transit }) => transit.p99),
        cpu,
      ];
    case 'tokens':
      return [title, ratio('tokens/s', ({ tokensPerSecond }) => tokensPerSecond), cpu];
  }
}

/** With a comma between thousands. */
function number(value: number, digits: number): string {
  if (!Number.isFinite(value)) return '–';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
