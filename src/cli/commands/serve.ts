import { readFileSync } from 'node:fs';
import { Command, Option } from '@commander-js/extra-typings';
import type { ServeOptions } from '../../shared/daemon-module.ts';
import { exitCodes } from '../../shared/errors.ts';
import { listenDefaults } from '../../shared/listen-defaults.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example, wholeNumber } from '../manifest/options.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
const replaySpeeds = ['real', 'instant'] as const;

const ports = { min: 0, max: 65_535 };

export const serveCommand = (context: Context) =>
  new Command('serve')
    .option('--port <port>', `the port to listen on (${listenDefaults.port} unless told)`, wholeNumber(ports))
    .option('--host <address>', `the address to listen on (${listenDefaults.host} unless told)`)
    .option('--socket <path>', 'a Unix socket to listen on as well')
    .option('--data <folder>', 'where the data lies')
    .option('--config <file>', 'the configuration file')
    .option('--simulate <file>', 'answer sim/ models by the rules of this file')
    .option('--record <folder>', 'keep each call to a provider in a file there, without secrets')
    .option('--replay <folder>', 'answer calls to providers from the files there, with no network')
    .addOption(
      new Option(
        '--replay-speed <speed>',
        'with the pauses of the recording, or without (instant unless told)',
      ).choices(replaySpeeds),
    )
    .addOption(new Option('--log-level <level>', 'how much is logged (warn unless told)').choices(logLevels))
    .addHelpText('after', example('gateway serve --port 4200'))
    .action(async ({ port, host, socket, data, config, simulate, record, replay, replaySpeed, logLevel }) => {
      if (replaySpeed !== undefined && replay === undefined) {
        throw new CliError('--replay-speed is of no use without --replay.', {
          exit: exitCodes.usage,
          next: 'Name what is to be replayed: --replay FOLDER',
        });
      }
      refuseEmpty({ host, socket, data, config, simulate, record, replay });
      const { serve } = await context.daemon();
      const { env, io } = context;
      const recordings = { record, replay, replaySpeed };
      const place = { port, host, socket, dataFolder: data, configFile: config };
      const options = { ...place, simulate, ...recordings, logLevel };
      context.exit = (await serve({
        ...options,
        env,
        stdout: io.stdout,
        stderr: io.stderr,
        askSecret: askerOf(context),
      })) as typeof context.exit;
    });

/** A variable of a script that was not set would be a listener on every address, or data in the current folder. */
function refuseEmpty(options: Record<string, string | undefined>): void {
  const empty = Object.keys(options).find((name) => options[name]?.trim() === '');
  if (empty !== undefined) throw new CliError(`--${empty} is empty.`, { exit: exitCodes.usage });
}

/** Asks at the terminal that the daemon was started at, where somebody may type. */
function askerOf({ io, out }: Context): ServeOptions['askSecret'] {
  if (!io.stdin.isTty || !io.stderr.isTty || !out.isInteractive() || !isInForeground()) return undefined;
  return async (question, signal) => {
    io.stderr.write(`${question}: `);
    const typed = await io.stdin.readHidden(signal);
    io.stderr.write('\n');
    return typed?.trim();
  };
}

/**
 * Whether what is typed at the terminal comes to this process: one that was sent to the background would be stopped by
 * reading there. True where it cannot be told. Source: proc_pid_stat(5), fields 5 and 8.
 */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program may hold spaces and parentheses.
    const [, , , group, , , terminalGroup] = stat.slice(stat.lastIndexOf(')') + 1).split(' ');
    return group === terminalGroup;
  } catch {
    return true;
  }
}
