import { Command } from '@commander-js/extra-typings';
import type { Context } from '../../context.ts';
import { getAutopilot } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { detailColumns } from './columns.ts';

export const showAutopilotCommand = (context: Context) =>
  new Command('show')
    .argument('<autopilot>', 'the id or handle of one of yours')
    .addHelpText('after', example('gateway autopilots show night-watch'))
    .action(async (autopilot) => {
      const { data } = await context.client().call(getAutopilot, { params: { autopilot } });
      await context.out.record(data, detailColumns(context.now()));
    });
