import { Command, Option } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { updateWorkspace } from '../../addresses.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { workspaceColumns } from './columns.ts';

export const setWorkspaceCommand = (context: Context) =>
  new Command('set')
    .argument('[workspace]', 'its id or slug; the one in use unless told', 'me')
    .option('--name <name>', 'its name, for people')
    .option('--slug <slug>', 'what names it in commands')
    .addOption(
      new Option('--members-may-issue-keys <yes|no>', 'whether plain members may issue API keys').choices([
        'yes',
        'no',
      ] as const),
    )
    .addHelpText('after', example('gateway workspaces set research --members-may-issue-keys yes'))
    .action(async (workspace, { name, slug, membersMayIssueKeys: may }) => {
      if (name === undefined && slug === undefined && may === undefined) {
        throw new CliError('Nothing was said to change.', { exit: exitCodes.usage });
      }
      const body = { name, slug, members_may_issue_keys: may === undefined ? undefined : may === 'yes' };
      const changed = await context.client().call(updateWorkspace, { params: { workspace }, body });
      await context.out.record(changed, workspaceColumns(context.now()));
    });
