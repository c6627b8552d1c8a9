import { Command } from '@commander-js/extra-typings';
import { getWorkspace, removeMember } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';
import { actIn } from './use.ts';

export const leaveCommand = (context: Context) =>
  new Command('leave')
    .argument('<workspace>', 'its id or slug')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway workspaces leave research --yes'))
    .action((workspace, { yes }) => leave(context, workspace, { yes }));

export async function leave(
  context: Context,
  reference: string,
  { yes }: { yes?: true | undefined },
): Promise<void> {
  const { id, slug } = await context.client().call(getWorkspace, { params: { workspace: reference } });
  await confirm(context, `Leave ${slug}? Your keys there pass to its owner.`, { yes });
  const params = { workspace: id, user: 'me' };
  const left = await context.client().call(removeMember, { params });
  // What was acted in is no place to act in any more.
  if (context.host().workspace === id && !context.env.GATEWAY_WORKSPACE) actIn(context, null);
  if (context.out.wantsJson()) return context.out.document(left);
  context.out.note(`You are no member of ${slug} any more.`);
}
