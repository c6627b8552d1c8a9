import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { createAutopilot } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { detailColumns } from './columns.ts';
import { autopilotBody, autopilotFlags } from './flags.ts';

export const createAutopilotCommand = (context: Context) =>
  autopilotFlags(new Command('create').argument('<name>', 'its name, for people'))
    .addHelpText(
      'after',
      example('gateway autopilots create "Night Watch" --policy \'{"model":"sim/assistant"}\''),
    )
    .action(async (displayName, flags) => {
      const body = { displayName, ...autopilotBody(flags) };
      const { data } = await context.client().call(createAutopilot, { body });
      await context.out.record(data, detailColumns(context.now()));
    });
