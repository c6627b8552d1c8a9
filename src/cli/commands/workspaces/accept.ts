import { Command } from '@commander-js/extra-typings';
import { acceptInvitation } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { readCode } from '../../hosts/read-code.ts';
import { example } from '../example.ts';
import { workspaceColumns } from './columns.ts';
import { actIn } from './use.ts';

export const acceptCommand = (context: Context) =>
  new Command('accept')
    .option('--code-from-env <variable>', 'read the code from this environment variable')
    .option('--use', 'act in the workspace from now on')
    .addHelpText('after', example('echo "$CODE" | gateway workspaces accept --use'))
    .action(async ({ codeFromEnv: fromEnv, use }) => {
      const code = await readCode(context, { question: 'Invitation code', fromEnv });
      const joined = await context.client().call(acceptInvitation, { body: { code } });
      if (use) actIn(context, joined.id);
      await context.out.record(joined, workspaceColumns(context.now()));
    });
