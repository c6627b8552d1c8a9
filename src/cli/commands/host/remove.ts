import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { changeHostFile, hostNamed, readHostFile } from '../../hosts/host-file.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';
import { dropLogin } from '../logout.ts';
import { noSuchHost } from './use.ts';

export const removeHostCommand = (context: Context) =>
  new Command('remove')
    .argument('<name>', 'the host to forget')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway host remove work --yes'))
    .action((name, { yes }) => removeHost(context, name, { yes }));

/** Logs out of it, then forgets it. */
async function removeHost(
  context: Context,
  name: string,
  { yes }: { yes?: true | undefined },
): Promise<void> {
  if (!hostNamed(readHostFile(context), name)) throw noSuchHost(name);
  await confirm(context, `Log out of ${name} and forget it?`, { yes });
  await dropLogin(context, name);
  changeHostFile(context, (file) => {
    delete file.hosts[name];
    if (file.current === name) file.current = null;
  });
  if (context.out.wantsJson()) await context.out.document({ name, removed: true });
  context.out.note(`Forgot ${name}.`);
}
