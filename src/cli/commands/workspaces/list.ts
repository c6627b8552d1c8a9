import { Command } from '@commander-js/extra-typings';
import { listWorkspaces } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { collectPages } from '../collect-pages.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';
import { workspaceColumns } from './columns.ts';

export const listWorkspacesCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'at most so many, oldest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway workspaces list --json=slug,role'))
    .action(async ({ limit }) => {
      // Also where the workspace in use is none of the caller's any more.
      const client = context.clientFor({ ...context.host(), workspace: undefined });
      const found = await collectPages(limit, (page) => client.call(listWorkspaces, { query: page }));
      await context.out.table(found, workspaceColumns(context.now()), { empty: 'No workspaces.' });
    });
