import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { deleteProfile } from '../../site-addresses.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';

export const deleteProfileCommand = (context: Context) =>
  new Command('delete')
    .argument('<email>', 'your own address, to be sure')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway profile delete ann@example.com --yes'))
    .action(async (email, { yes }) => {
      const question =
        'Delete yourself from this host? Your logins, tokens and keys end, and your shouts go.';
      await confirm(context, question, { yes });
      const { data } = await context.client().call(deleteProfile, { body: { email } });
      if (context.out.wantsJson()) return context.out.document(data);
      context.out.note('Deleted.');
    });
