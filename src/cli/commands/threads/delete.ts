import { Command } from '@commander-js/extra-typings';
import { deleteThread } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';

export const deleteThreadCommand = (context: Context) =>
  new Command('delete')
    .argument('<id>', 'the id of the thread, th_…')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway threads delete th_01jd… --yes'))
    .action(async (id, { yes }) => {
      await confirm(context, `Delete ${id} with all that was said in it? It cannot be brought back.`, {
        yes,
      });
      const deleted = await context.client().call(deleteThread, { params: { id } });
      if (context.out.wantsJson()) return context.out.document(deleted);
      context.out.note(`Deleted ${deleted.id}.`);
    });
