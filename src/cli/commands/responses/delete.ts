import { Command } from '@commander-js/extra-typings';
import { deleteResponse } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';

export const deleteResponseCommand = (context: Context) =>
  new Command('delete')
    .argument('<id>', 'the id of the response, resp_…')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway responses delete resp_01jd… --yes'))
    .action(async (id, { yes }) => {
      await confirm(context, `Delete ${id}? It cannot be brought back.`, { yes });
      const deleted = await context.client().call(deleteResponse, { params: { id } });
      if (context.out.wantsJson()) return context.out.document(deleted);
      context.out.note(`Deleted ${deleted.id}.`);
    });
