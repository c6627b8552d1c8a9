import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { getMe, updateProfile } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { profileColumns } from './columns.ts';

export const setProfileCommand = (context: Context) =>
  new Command('set')
    .option('--name <name>', 'your name, for people')
    .option('--email <address>', 'your address')
    .option('--avatar <url>', 'the address of a picture; empty for none')
    .option('--handle <handle>', 'what you are called on this host')
    .addHelpText('after', example('gateway profile set --name "Ann Lee" --email ann@example.com'))
    .action(async ({ name, email, avatar, handle }) => {
      const changes = { name, email, avatar, handle };
      if (Object.values(changes).every((value) => value === undefined)) {
        throw new CliError('Nothing was said to change.', { exit: exitCodes.usage });
      }
      await context.client().call(updateProfile, { body: changes });
      const { data } = await context.client().call(getMe, { query: { chat_limit: 1 } });
      await context.out.record(data.user, profileColumns(context.now()));
    });
