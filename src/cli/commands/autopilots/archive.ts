import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { archiveAutopilot } from '../../site-addresses.ts';
import { confirm } from '../confirm.ts';
import { example } from '../example.ts';

export const archiveAutopilotCommand = (context: Context) =>
  new Command('archive')
    .argument('<autopilot>', 'the id or handle of one of yours')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('gateway autopilots archive night-watch --yes'))
    .action(async (autopilot, { yes }) => {
      await confirm(context, `Archive ${autopilot}? It does not change any more.`, { yes });
      const { data } = await context.client().call(archiveAutopilot, { params: { autopilot } });
      if (context.out.wantsJson()) return context.out.document(data);
      context.out.note(`Archived ${data.handle}.`);
    });
