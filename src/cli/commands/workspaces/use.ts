import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { getWorkspace } from '../../addresses.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { changeHostFile, localName } from '../../hosts/host-file.ts';
import { example } from '../example.ts';

export const useWorkspaceCommand = (context: Context) =>
  new Command('use')
    .argument('<workspace>', 'the id or slug of the workspace to act in from now on; me is your own')
    .addHelpText('after', example('gateway workspaces use research'))
    .action((workspace) => chooseWorkspace(context, workspace));

async function chooseWorkspace(context: Context, reference: string): Promise<void> {
  // The one in use may be none of the caller's any more.
  const client = context.clientFor({ ...context.host(), workspace: undefined });
  const workspace = await client.call(getWorkspace, { params: { workspace: reference } });
  actIn(context, reference === 'me' ? null : workspace.id);
  if (context.out.wantsJson()) await context.out.document(workspace);
  context.out.note(`Commands act in ${workspace.slug} from now on.`);
  if (context.env.GATEWAY_WORKSPACE) context.out.warn('GATEWAY_WORKSPACE is set, and goes before this.');
}

/** Notes the workspace to act in on the host that is spoken to; null for the caller's own. */
export function actIn(context: Context, workspaceId: string | null): void {
  const { name } = context.host();
  changeHostFile(context, (file) => {
    const entry = name === undefined ? undefined : file.hosts[name];
    if (entry) entry.workspace = workspaceId;
    else if (name === localName) file.localWorkspace = workspaceId;
    else {
      throw new CliError('A host without a name here has no workspace in use.', {
        exit: exitCodes.usage,
        next: 'Name it with gateway host add NAME URL, or set GATEWAY_WORKSPACE.',
      });
    }
  });
}
