import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { hostUrl } from '../../hosts/host-address.ts';
import { changeHostFile, hostNamed, localName, loggedOut, readHostFile } from '../../hosts/host-file.ts';
import { example } from '../example.ts';
import { localIsTaken } from '../login.ts';

export const addHostCommand = (context: Context) =>
  new Command('add')
    .argument('<name>', 'what to call it here')
    .argument('<url>', 'its address')
    .option('--use', 'speak to it from now on')
    .addHelpText('after', example('gateway host add work https://gateway.example.org --use'))
    .action((name, url, { use }) => addHost(context, { name, address: url, use }));

interface NewHost {
  name: string;
  address: string;
  use?: true | undefined;
}

async function addHost(context: Context, { name, address, use }: NewHost): Promise<void> {
  if (name === localName) throw localIsTaken();
  if (!/^[\w.:-]{1,100}$/.test(name) || /^(https?|unix):/.test(name)) {
    throw new CliError(`"${name}" is no name for a host: letters, digits and . : - _ alone.`, {
      exit: exitCodes.usage,
    });
  }
  const url = hostUrl(address);
  const known = hostNamed(readHostFile(context), name);
  if (known && known.url !== url) {
    throw new CliError(`${name} is ${known.url}.`, {
      exit: exitCodes.failed,
      next: `Remove it first: gateway host remove ${name}`,
    });
  }
  changeHostFile(context, (file) => {
    file.hosts[name] = known ?? loggedOut(url);
    if (use) file.current = name;
  });
  if (context.out.wantsJson()) await context.out.document({ name, url });
  if (!known?.login) context.out.note(`Log in with: gateway login ${name}`);
}
