import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { dataFiles } from '../../../shared/folders.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { readSecret } from '../../hosts/local-daemon.ts';
import { example } from '../example.ts';

export const defaultKeyCommand = (context: Context) =>
  new Command('default')
    .addHelpText('after', example('curl -H "authorization: Bearer $(gateway keys default)" …'))
    .action(() => showDefaultKey(context));

/** Reads the file that the first start wrote; no daemon has to run. */
async function showDefaultKey(context: Context): Promise<void> {
  const secret = readSecret(context, dataFiles.defaultKey);
  if (secret === undefined) {
    throw new CliError('There is no default key on this machine.', {
      exit: exitCodes.failed,
      next: 'The first start makes it: gateway serve. Another key: gateway keys issue',
    });
  }
  if (context.out.wantsJson()) await context.out.document({ secret });
  else context.out.text(`${secret}\n`);
}
