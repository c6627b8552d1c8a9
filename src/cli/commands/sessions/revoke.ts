import { Command } from '@commander-js/extra-typings';
import { deleteSession } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';

export const revokeSessionCommand = (context: Context) =>
  new Command('revoke')
    .argument('<id>', 'the id of one of your logins')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway sessions revoke key_01jd… --yes'))
    .action(async (session, { yes }) => {
      await confirm(context, `End the login ${session}? What uses it is refused from then on.`, { yes });
      const ended = await context.client().call(deleteSession, { params: { session } });
      if (context.out.wantsJson()) return context.out.document(ended);
      context.out.note(`Ended ${session}.`);
    });
