import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { listWhisperThreads } from '../../site-addresses.ts';
import { collectRows } from '../collect-rows.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';
import { threadColumns, whisperColumns } from './columns.ts';
import { listWhispersOf } from './list-whispers.ts';

export const listWhispersCommand = (context: Context) =>
  new Command('list')
    .option('--with <person>', 'only those with this person, by handle or id')
    .option('--by-person', 'a line a person, with how many are unread')
    .option('--limit <count>', 'at most so many, newest first', wholeNumber({ min: 1 }), 50)
    .addHelpText('after', example('gateway whispers list --with ann'))
    .action(async ({ with: person, byPerson, limit }) => {
      const empty = 'No whispers.';
      if (byPerson) {
        const threads = await collectRows(limit, (query) =>
          context.client().call(listWhisperThreads, { query }),
        );
        return context.out.table(threads, threadColumns(context.now()), { empty });
      }
      const found = await listWhispersOf(context, { person, limit });
      await context.out.table(found, whisperColumns(context.now()), { empty });
    });
