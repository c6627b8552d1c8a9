import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import { stopDaemon } from '../addresses.ts';
import { CliError } from '../cli-error.ts';
import type { Context } from '../context.ts';
import { isAlive, readDaemonFile } from '../hosts.ts';
import { example } from './example.ts';
import { wholeNumber } from './number-option.ts';

export const stopCommand = (context: Context) =>
  new Command('stop')
    .option(
      '--wait <seconds>',
      'how long to wait for running calls',
      wholeNumber({ min: 0, max: 86_400 }),
      60,
    )
    .addHelpText('after', example('gateway stop'))
    .action(({ wait }) => stopAndWait(context, { waitMs: wait * 1000 }));

const pollMs = 50;

/** Asks the daemon to stop, and waits for its process to end where it runs on this machine. */
export async function stopAndWait(context: Context, { waitMs }: { waitMs: number }): Promise<void> {
  const isNamed = context.flags.host !== undefined || Boolean(context.env.GATEWAY_HOST);
  if (!isNamed && readDaemonFile(context) === undefined) {
    context.out.note('The daemon is not running.');
    return;
  }
  const { isLocal } = context.host();
  const { pid } = await context.client().call(stopDaemon, {});
  const until = context.now() + waitMs;
  while (isLocal && isAlive(pid)) {
    if (context.now() >= until) {
      throw new CliError(`The daemon (process ${pid}) is still finishing its calls.`, {
        exit: exitCodes.tryLater,
        next: 'It stops by itself when they are done; see: gateway status',
      });
    }
    await context.sleep(pollMs);
  }
  context.out.note(isLocal ? 'Stopped.' : 'It stops once running calls are done.');
}
