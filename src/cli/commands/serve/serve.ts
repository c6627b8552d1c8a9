import { readFileSync } from 'node:fs';
import { Command, Option } from '@commander-js/extra-typings';
import { listenDefaults, workersMax } from '../../../shared/constants/listen-defaults.ts';
import type { EventView } from '../../../shared/contract/events.ts';
import type { ServeOptions } from '../../../shared/daemon-module.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { count } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../failures/cli-error.ts';
import type { Writer } from '../../io.ts';
import { example, wholeNumber } from '../../options.ts';
import { callLine } from '../tail/event-line.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
const replaySpeeds = ['real', 'instant'] as const;

const ports = { min: 0, max: 65_535 };

export const serveCommand = (context: Context) =>
  new Command('serve')
    .option('--port <port>', `the port to listen on (default: ${listenDefaults.port})`, wholeNumber(ports))
    .option('--host <address>', `the address to listen on (default: ${listenDefaults.host})`)
    .option(
      '--workers <number>',
      'how many threads serve model calls (default: 1)',
      wholeNumber({ min: 1, max: workersMax }),
    )
    .option('--socket <path>', 'also listen on this Unix socket')
    .option('--data <folder>', 'the data folder')
    .option('--config <file>', 'the configuration file')
    .option('--simulate <file>', 'rules for the simulated sim/ models')
    .option('--record <folder>', 'record provider calls to files in this folder, without secrets')
    .option('--replay <folder>', 'replay recorded provider calls, without network access')
    .addOption(
      new Option(
        '--replay-speed <speed>',
        "whether to keep the recording's timing (default: instant)",
      ).choices(replaySpeeds),
    )
    .addOption(new Option('--log-level <level>', 'minimum level to log (default: warn)').choices(logLevels))
    .option('-q, --quiet', 'print no line per call')
    .option('--no-color', 'disable colours')
    .addHelpText('after', example('gateway serve --port 4200'))
    .action(async ({ port, host, workers, socket, data, config, simulate, logLevel, ...recording }) => {
      const { record, replay, replaySpeed } = recording;
      if (replaySpeed !== undefined && replay === undefined) {
        throw usageError('--replay-speed requires --replay.', 'Add --replay FOLDER.');
      }
      refuseEmpty({ host, socket, data, config, simulate, record, replay });
      const { serve } = await context.daemon();
      const { env, io, out } = context;
      const { stdout, stderr, close } = io.lasting();
      const recordings = { record, replay, replaySpeed };
      const place = { port, host, workers, socket, dataFolder: data, configFile: config };
      const options = { ...place, simulate, ...recordings, logLevel };
      context.exit = (await serve({
        ...options,
        env,
        stdout,
        stderr,
        askSecret: askerOf(context),
        showCall: stdout.isTty && !out.isQuiet() ? callPrinter(stdout, context) : undefined,
      })) as typeof context.exit;
      if (stdout.isTty && context.exit === exitCodes.done) out.note('Gateway has stopped.');
      await close(context.exit);
    });

/** An empty value, such as an unset shell variable, would mean all addresses or the current folder. */
function refuseEmpty(options: Record<string, string | undefined>): void {
  const empty = Object.keys(options).find((name) => options[name]?.trim() === '');
  if (empty !== undefined) throw new CliError(`--${empty} is empty.`, { exit: exitCodes.usage });
}

/** Asks for a secret at the daemon's terminal, if a user can type there. */
function askerOf({ io, out }: Context): ServeOptions['askSecret'] {
  if (!io.stdin.isTty || !io.stderr.isTty || !out.isInteractive() || !isInForeground()) return undefined;
  return async (question, signal) => (await io.stdin.readHidden(`${question}: `, signal))?.trim();
}

/**
 * Whether this process is in the foreground: reading from the terminal would stop a background process. True where that
 * is unknown. Source: proc_pid_stat(5), fields 5 and 8.
 */
function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The program's name may contain spaces and parentheses.
    const [, , , group, , , terminalGroup] = stat.slice(stat.lastIndexOf(')') + 1).split(' ');
    return group === terminalGroup;
  } catch {
    return true;
  }
}

const secondMs = 1000;
/** Further lines within a second are summed up in one. */
const linesPerSecondMax = 20;

/** Prints a line per finished or rejected call; more than a person can read are counted. */
function callPrinter(stdout: Writer, { io, out, sleep }: Context): (call: EventView) => void {
  let printed = 0;
  let skipped = new Map<string, number>();
  const startSecond = async (): Promise<void> => {
    await sleep(secondMs);
    printed = 0;
    if (skipped.size === 0) return;
    stdout.write(out.paint.stdout('dim', `${summaryOf(skipped)}\n`));
    skipped = new Map();
  };
  return (call) => {
    if (printed === 0 && skipped.size === 0) void startSecond();
    if (printed < linesPerSecondMax) {
      printed += 1;
      stdout.write(callLine(call, { columns: io.columns(), paint: out.paint.stdout }));
      return;
    }
    const { error_code, status, more } = call.data;
    const outcome = String(error_code ?? status);
    skipped.set(outcome, (skipped.get(outcome) ?? 0) + 1 + Number(more ?? 0));
  };
}

function summaryOf(skipped: ReadonlyMap<string, number>): string {
  const total = [...skipped.values()].reduce((sum, one) => sum + one, 0);
  const outcomes = [...skipped].map(([outcome, number]) => `${count(number)} ${outcome}`);
  return `… and ${count(total)} more: ${outcomes.join(', ')}`;
}
