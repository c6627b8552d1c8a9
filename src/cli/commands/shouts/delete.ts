import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { deleteShout } from '../../site-addresses.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';

export const deleteShoutCommand = (context: Context) =>
  new Command('delete')
    .argument('<id>', 'the id of one of your shouts', wholeNumber({ min: 1 }))
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway shouts delete 42 --yes'))
    .action(async (id, { yes }) => {
      await confirm(context, `Delete the shout ${id}?`, { yes });
      const { data } = await context.client().call(deleteShout, { params: { id } });
      if (context.out.wantsJson()) return context.out.document(data);
      context.out.note(`Deleted ${id}.`);
    });
