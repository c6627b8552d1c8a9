import { Command } from '@commander-js/extra-typings';
import { revokeInvitation } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { workspaceOption } from './options.ts';

export const uninviteCommand = (context: Context) =>
  new Command('uninvite')
    .argument('<invitation>', 'the id of an open invitation, invite_…')
    .addOption(workspaceOption())
    .addHelpText('after', example('gateway workspaces uninvite invite_01jd…'))
    .action(async (invitation, { workspace }) => {
      const revoked = await context.client().call(revokeInvitation, { params: { workspace, invitation } });
      if (context.out.wantsJson()) return context.out.document(revoked);
      context.out.note(`Revoked ${invitation}.`);
    });
