import { Command, Option } from '@commander-js/extra-typings';
import type { Result } from '../../../shared/contract/endpoint.ts';
import type { createInvitation as createInvitationContract } from '../../../shared/contract/workspaces.ts';
import { createInvitation } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { example } from '../example.ts';
import { roles, workspaceOption } from './options.ts';

export const inviteCommand = (context: Context) =>
  new Command('invite')
    .addOption(
      new Option('--role <role>', 'what whoever accepts will be').choices(roles).default('member' as const),
    )
    .option('--note <note>', 'for whom it is, for the list of invitations')
    .addOption(workspaceOption())
    .addHelpText('after', example('gateway workspaces invite --role admin --note "for Ann"'))
    .action(async ({ role, note, workspace }) => {
      const made = await context
        .client()
        .call(createInvitation, { params: { workspace }, body: { role, note } });
      await context.out.record(made, columns(context.now()), { pipedRow: [id, code] });
      context.out.note('It lets one user of this host in, once: gateway workspaces accept');
    });

type Made = Column<Result<typeof createInvitationContract>>;

const id: Made = { title: 'id', value: ({ invitation }) => invitation.id };
const code: Made = { title: 'code', value: (made) => made.code, style: () => 'bold', essential: true };

const columns = (now: number): Made[] => [
  id,
  { title: 'role', value: ({ invitation }) => invitation.role },
  code,
  {
    title: 'expires_at',
    value: ({ invitation }) => invitation.expires_at,
    show: ({ invitation }) => ago(invitation.expires_at, now),
  },
];
