import type { Paint } from '../../output/style.ts';
import { visibleCell } from '../../output/visible.ts';

/** A line of the log, as the daemon writes it. Source of the numbers: pino's levels. */
export interface LogEntry {
  level: number;
  time: string;
  msg: string;
  [name: string]: unknown;
}

export const levels = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const;

export type LevelName = keyof typeof levels;

/** Undefined for what is no line of a log: the end of a file whose writer died. */
export function entryOf(line: string): LogEntry | undefined {
  try {
    const entry = JSON.parse(line) as LogEntry | null;
    return typeof entry?.level === 'number' && typeof entry.time === 'string' ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** For people: time, level, sentence, and the rest as `name=value`; what an error said goes below. */
export function lineOf({ level, time, msg, err, ...rest }: LogEntry, paint: Paint): string {
  const name = nameOf(level);
  const style = level >= levels.error ? 'red' : level >= levels.warn ? 'yellow' : 'dim';
  const details = Object.entries(rest).map(([key, value]) =>
    paint('dim', ` ${key}=${visibleCell(textOf(value))}`),
  );
  const day = time.replace('T', ' ').replace(/\.\d+Z$|Z$/, '');
  const cause = err === undefined ? '' : `\n    ${visibleCell(textOf(err))}`;
  return `${paint('dim', day)} ${paint(style, name.padEnd(5))} ${visibleCell(msg ?? '')}${details.join('')}${cause}\n`;
}

function nameOf(level: number): string {
  return Object.entries(levels).find(([, number]) => number === level)?.[0] ?? String(level);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
