import { Command } from '@commander-js/extra-typings';
import { listMembers } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { collectPages } from '../collect-pages.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';
import { memberColumns } from './columns.ts';

export const membersCommand = (context: Context) =>
  new Command('members')
    .argument('[workspace]', 'its id or slug; the one in use unless told', 'me')
    .option('--limit <count>', 'at most so many, oldest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway workspaces members research'))
    .action(async (workspace, { limit }) => {
      const members = await collectPages(limit, (page) =>
        context.client().call(listMembers, { params: { workspace }, query: page }),
      );
      await context.out.table(members, memberColumns(context.now()), { empty: 'No members.' });
    });
