import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/received-error.ts';
import { stopDaemon } from '../addresses.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { localName } from '../hosts/host-file.ts';
import { isLocalDown, meantHost } from '../hosts/hosts.ts';
import { isAlive, readDaemonFile } from '../hosts/local-daemon.ts';
import { example, wholeNumber } from '../manifest/options.ts';
import { confirm } from '../terminal/prompts.ts';

export const stopCommand = (context: Context) =>
  new Command('stop')
    .option(
      '--wait <seconds>',
      'how long to wait for running calls',
      wholeNumber({ min: 0, max: 86_400 }),
      60,
    )
    .option('--yes', 'do not ask, where the daemon of another machine is in use')
    .addHelpText('after', example('gateway stop'))
    .action(({ wait, yes }) => stopAndWait(context, { waitMs: wait * 1000, yes }));

const pollMs = 50;

interface StopWish {
  waitMs: number;
  yes?: true | undefined;
}

/** Asks the daemon to stop, and waits for its process to end where it runs on this machine. */
async function stopAndWait(context: Context, { waitMs, yes }: StopWish): Promise<void> {
  if (isLocalDown(context)) {
    context.out.note('The daemon is not running.');
    return;
  }
  const { isLocal, name, url } = context.host();
  const theirs = name === undefined || isLocal ? url : `${name} (${url})`;
  // Whoever types only `stop` may have forgotten that another machine is in use.
  if (!isLocal && !meantHost(context.flags.host, context).isNamed) {
    await confirm(context, `Stop the daemon of ${theirs}? This machine’s own is --host ${localName}.`, {
      yes,
    });
  }
  const pid = await askToStop(context);
  if (!isLocal || pid === undefined) {
    context.out.note(`The daemon of ${theirs} stops once running calls are done.`);
    return;
  }
  const until = context.now() + waitMs;
  while (isAlive(pid)) {
    if (context.now() >= until) {
      throw new CliError(`The daemon (process ${pid}) is still finishing its calls.`, {
        exit: exitCodes.tryLater,
        next: 'It stops by itself when they are done; see: gateway status',
      });
    }
    await context.sleep(pollMs);
  }
  context.out.note('Stopped.');
}

/** The process that stops; undefined where it is not known here. */
async function askToStop(context: Context): Promise<number | undefined> {
  try {
    return (await context.client().call(stopDaemon, {})).pid;
  } catch (error) {
    // One that stops already takes no calls any more, this one included.
    if (error instanceof ReceivedError && error.code === 'unavailable') return readDaemonFile(context)?.pid;
    throw error;
  }
}
