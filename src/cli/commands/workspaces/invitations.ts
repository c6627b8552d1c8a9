import { Command } from '@commander-js/extra-typings';
import { listInvitations } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { collectPages } from '../collect-pages.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';
import { invitationColumns } from './columns.ts';

export const invitationsCommand = (context: Context) =>
  new Command('invitations')
    .argument('[workspace]', 'its id or slug; the one in use unless told', 'me')
    .option('--limit <count>', 'at most so many, newest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway workspaces invitations research'))
    .action(async (workspace, { limit }) => {
      const found = await collectPages(limit, (page) =>
        context.client().call(listInvitations, { params: { workspace }, query: page }),
      );
      await context.out.table(found, invitationColumns(context.now()), { empty: 'No invitations.' });
    });
