import { Command } from '@commander-js/extra-typings';
import { addUser } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { showLoginCode, urlOption } from './show-login-code.ts';

export const addUserCommand = (context: Context) =>
  new Command('add')
    .argument('<handle>', 'what the user is called on this host')
    .option('--name <name>', 'the name of the person')
    .addOption(urlOption())
    .addHelpText('after', example('gateway users add ann --name "Ann Lee"'))
    .action(async (handle, { name, url }) => {
      const added = await context.client().call(addUser, { body: { handle, name } });
      await showLoginCode(context, added, url);
    });
