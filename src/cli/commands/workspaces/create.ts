import { Command } from '@commander-js/extra-typings';
import { createWorkspace } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { example } from '../example.ts';
import { workspaceColumns } from './columns.ts';
import { actIn } from './use.ts';

export const createWorkspaceCommand = (context: Context) =>
  new Command('create')
    .argument('<name>', 'its name, for people')
    .option('--slug <slug>', 'what names it in commands; made from the name unless told')
    .option('--use', 'act in it from now on')
    .addHelpText('after', example('gateway workspaces create "Research" --use'))
    .action(async (name, { slug, use }) => {
      const made = await context.client().call(createWorkspace, { body: { name, slug } });
      if (use) actIn(context, made.id);
      await context.out.record(made, workspaceColumns(context.now()));
    });
