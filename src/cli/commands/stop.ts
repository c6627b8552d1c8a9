import { Command } from '@commander-js/extra-typings';
import { stopDaemon } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { localName } from '../hosts/host-file.ts';
import { isLocalDown, selectedHost } from '../hosts/hosts.ts';
import { isAlive, readDaemonFile } from '../hosts/local-daemon.ts';
import { Unreachable } from '../hosts/send.ts';
import { example, wholeNumber } from '../options.ts';
import { confirm } from '../terminal/prompts.ts';

export const stopCommand = (context: Context) =>
  new Command('stop')
    .option(
      '--wait <seconds>',
      'how long to wait for running calls',
      wholeNumber({ min: 0, max: 86_400 }),
      60,
    )
    .option('-y, --yes', 'skip the confirmation for a remote host')
    .addHelpText('after', example('gateway stop'))
    .action(({ wait, yes }) => stopAndWait(context, { waitMs: wait * 1000, yes }));

const pollMs = 50;

interface StopOptions {
  waitMs: number;
  yes?: true | undefined;
}

/** Asks the daemon to stop; if it runs on this machine, waits for its process to exit. */
async function stopAndWait(context: Context, { waitMs, yes }: StopOptions): Promise<void> {
  if (isLocalDown(context)) {
    context.out.note('The daemon is not running.');
    return;
  }
  const { isLocal, name, url } = context.host();
  const theirs = name === undefined || isLocal ? url : `${name} (${url})`;
  // A bare `stop` may be meant for this machine.
  if (!isLocal && !selectedHost(context.flags.host, context).isExplicit) {
    await confirm(context, `Stop the daemon on ${theirs}? For this machine's, add --host ${localName}.`, {
      yes,
    });
  }
  const pid = await askToStop(context);
  if (!isLocal || pid === undefined) {
    context.out.note(`The daemon on ${theirs} stops after running calls finish.`);
    return;
  }
  const until = context.now() + waitMs;
  while (isAlive(pid)) {
    if (context.now() >= until) {
      throw new CliError(`The daemon (process ${pid}) is still finishing its calls.`, {
        exit: exitCodes.tryLater,
        next: 'It stops when they are done; see: gateway status',
      });
    }
    await context.sleep(pollMs);
  }
  context.out.note('Stopped.');
}

/** Returns the process id of the daemon that is stopping, if known. */
async function askToStop(context: Context): Promise<number | undefined> {
  try {
    return (await context.client().call(stopDaemon, {})).pid;
  } catch (error) {
    // A daemon that is already stopping refuses this call, too, or the connection.
    const isRefused =
      (error instanceof ReceivedError && error.code === 'unavailable') ||
      (error instanceof Unreachable && error.kind === 'refused' && context.host().isLocal);
    if (isRefused) return readDaemonFile(context)?.pid;
    throw error;
  }
}
