import { Argument, Command } from '@commander-js/extra-typings';
import { updateMember } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { memberColumns } from './columns.ts';
import { roles, workspaceOption } from './options.ts';

export const roleCommand = (context: Context) =>
  new Command('role')
    .argument('<user>', 'the handle or id of a member')
    .addArgument(new Argument('<role>', 'what they are from now on').choices(roles))
    .addOption(workspaceOption())
    .addHelpText('after', example('gateway workspaces role ann admin'))
    .action(async (user, role, { workspace }) => {
      const member = await context
        .client()
        .call(updateMember, { params: { workspace, user }, body: { role } });
      await context.out.record(member, memberColumns(context.now()));
    });
