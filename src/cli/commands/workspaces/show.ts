import { Command } from '@commander-js/extra-typings';
import { getWorkspace } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { workspaceColumns } from './columns.ts';

export const showWorkspaceCommand = (context: Context) =>
  new Command('show')
    .argument('[workspace]', 'its id or slug; the one in use unless told', 'me')
    .addHelpText('after', example('gateway workspaces show research'))
    .action(async (workspace) => {
      const found = await context.client().call(getWorkspace, { params: { workspace } });
      await context.out.record(found, workspaceColumns(context.now()));
    });
