import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { listShouts } from '../../site-addresses.ts';
import { collectRows } from '../collect-rows.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';
import { shoutColumns } from './columns.ts';

export const listShoutsCommand = (context: Context) =>
  new Command('list')
    .option('--zone <zone>', 'only those of this zone')
    .option('--since <time>', 'only those from this time on, like 2026-11-21T08:00:00Z')
    .option('--limit <count>', 'at most so many, newest first', wholeNumber({ min: 1 }), 50)
    .addHelpText('after', example('gateway shouts list --zone dev'))
    .action(async ({ zone, since, limit }) => {
      const found = await collectRows(limit, (page) =>
        context.client().call(listShouts, { query: { zone, since, ...page } }),
      );
      await context.out.table(found, shoutColumns(context.now()), { empty: 'No shouts.' });
    });
