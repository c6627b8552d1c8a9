import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { changeHostFile, hostNamed, localName, readHostFile } from '../../hosts/host-file.ts';
import { example } from '../example.ts';

export const useHostCommand = (context: Context) =>
  new Command('use')
    .argument('<name>', `the host to speak to from now on; ${localName} is this machine's own daemon`)
    .addHelpText('after', example('gateway host use work'))
    .action((name) => chooseHost(context, name));

async function chooseHost(context: Context, name: string): Promise<void> {
  if (name !== localName && !hostNamed(readHostFile(context), name)) throw noSuchHost(name);
  changeHostFile(context, (file) => {
    file.current = name === localName ? null : name;
  });
  if (context.out.wantsJson()) await context.out.document({ name });
  if (context.env.GATEWAY_HOST) context.out.warn('GATEWAY_HOST is set, and goes before this.');
}

export function noSuchHost(name: string): CliError {
  return new CliError(`There is no host named ${name} here.`, {
    exit: exitCodes.failed,
    next: 'See what there is: gateway host list. Add one: gateway host add NAME URL',
  });
}
