import { Command } from '@commander-js/extra-typings';
import { removeMember } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';
import { workspaceOption } from './options.ts';

export const removeMemberCommand = (context: Context) =>
  new Command('remove')
    .argument('<user>', 'the handle or id of a member')
    .addOption(workspaceOption())
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway workspaces remove ann --yes'))
    .action(async (user, { workspace, yes }) => {
      await confirm(context, `Take ${user} out of the workspace? Their keys there pass to its owner.`, {
        yes,
      });
      const removed = await context.client().call(removeMember, { params: { workspace, user } });
      if (context.out.wantsJson()) return context.out.document(removed);
      context.out.note(`${user} is no member any more.`);
    });
