import { Command } from '@commander-js/extra-typings';
import { listThreads } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { collectPages } from '../collect-pages.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';
import { threadColumns } from './columns.ts';

export const listThreadsCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'at most so many, newest first', wholeNumber({ min: 1 }), 20)
    .addHelpText('after', example('gateway threads list --json id,title'))
    .action(async ({ limit }) => {
      const rows = await collectPages(limit, (page) => context.client().call(listThreads, { query: page }));
      await context.out.table(rows, threadColumns(context.now()), { empty: 'No threads.' });
    });
