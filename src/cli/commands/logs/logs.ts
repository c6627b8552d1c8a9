import { Command, Option } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { foldersOf } from '../../../shared/folders.ts';
import { sortableTime } from '../../../view/times.ts';
import type { Context } from '../../context.ts';
import { checkIsThisMachine } from '../../hosts/hosts.ts';
import { example, wholeNumber } from '../../options.ts';
import { escapeCell } from '../../output/escape-controls.ts';
import type { Paint } from '../../output/style.ts';
import { pastTime, pastTimeHelp } from '../../times.ts';
import { readLog } from './log-files.ts';

export const logsCommand = (context: Context) =>
  new Command('logs')
    .option('-f, --follow', 'keep printing new lines, also after restarts; stop with Ctrl-C')
    .option('--since <time>', `only newer lines: ${pastTimeHelp}`, pastTime(context))
    .option('--lines <count>', 'number of last lines to show', wholeNumber({ min: 0, max: 1_000_000 }))
    .addOption(new Option('--level <level>', 'minimum level').choices(Object.keys(levels) as LevelName[]))
    .addHelpText('after', example('gateway logs --since 1h --level warn'))
    .action((options) => showLogs(context, options));

interface LogsOptions {
  follow?: true;
  since?: string;
  lines?: number;
  level?: LevelName;
}

const usualLines = 200;
const pollMs = 250;

/** Reads the files of this machine's daemon, which need not be running. */
async function showLogs(context: Context, { follow, since, lines, level }: LogsOptions): Promise<void> {
  checkIsThisMachine(context, 'The log');
  const from = since === undefined ? 0 : Date.parse(since);
  const isWanted = (entry: { level: number; time: string }) =>
    entry.level >= (level ? levels[level] : 0) && Date.parse(entry.time) >= from;
  const show = async (texts: readonly string[]) => {
    for (const text of texts) await showLine(context, text, isWanted);
  };
  const { lines: all, follower } = readLog(foldersOf(context).data);
  try {
    const wanted = all.filter((text) => {
      const entry = entryOf(text);
      return entry !== undefined && isWanted(entry);
    });
    const count = lines ?? (since === undefined ? usualLines : wanted.length);
    await show(count === 0 ? [] : wanted.slice(-count));
    if (wanted.length === 0 && !follow) context.out.note('No matching log entries.');
    if (!follow) return;
    const signal = context.interrupted();
    while (!signal.aborted) {
      await show(follower.read());
      await context.sleep(pollMs, signal);
    }
    context.exit = exitCodes.interrupted;
  } finally {
    follower.close();
  }
}

async function showLine(
  { out, io }: Context,
  text: string,
  isWanted: (entry: { level: number; time: string }) => boolean,
): Promise<void> {
  const entry = entryOf(text);
  if (entry === undefined || !isWanted(entry)) return;
  if (out.wantsJson()) return out.element(entry);
  // Programs get the daemon's JSON lines.
  if (!io.stdout.isTty) return void io.stdout.write(`${text}\n`);
  io.stdout.write(lineOf(entry, out.paint.stdout));
}

/** A line of the daemon's log. Source of the numbers: pino's levels. */
interface LogEntry {
  level: number;
  time: string;
  msg: string;
  [name: string]: unknown;
}

export const levels = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const;

type LevelName = keyof typeof levels;

/** Parses a line; undefined if it is incomplete because the daemon crashed. */
export function entryOf(line: string): LogEntry | undefined {
  try {
    const entry = JSON.parse(line) as LogEntry | null;
    return typeof entry?.level === 'number' && typeof entry.time === 'string' ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Formats an entry: time, level, message, other fields as `name=value`, and an error on its own line. */
export function lineOf({ level, time, msg, err, ...rest }: LogEntry, paint: Paint): string {
  const name = nameOf(level);
  const style = level >= levels.error ? 'red' : level >= levels.warn ? 'yellow' : 'dim';
  const details = Object.entries(rest).map(([key, value]) =>
    paint('dim', ` ${key}=${escapeCell(textOf(value))}`),
  );
  const cause = err === undefined ? '' : `\n    ${escapeCell(textOf(err))}`;
  return `${paint('dim', sortableTime(time))} ${paint(style, name.padEnd(5))} ${escapeCell(msg ?? '')}${details.join('')}${cause}\n`;
}

function nameOf(level: number): string {
  return Object.entries(levels).find(([, number]) => number === level)?.[0] ?? String(level);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
