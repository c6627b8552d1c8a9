import { Command } from '@commander-js/extra-typings';
import { updateThread } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { threadColumns } from './columns.ts';

export const renameThreadCommand = (context: Context) =>
  new Command('rename')
    .argument('<id>', 'the id of the thread, th_…')
    .argument('<title>', 'its new title')
    .addHelpText('after', example('gateway threads rename th_01jd… "Trip to Rome"'))
    .action(async (id, title) => {
      const { thread } = await context.client().call(updateThread, { params: { id }, body: { title } });
      await context.out.record(thread, threadColumns(context.now()));
    });
