import { Command, Option } from '@commander-js/extra-typings';
import type { AutopilotStatus } from '../../../shared/contract/autopilots.ts';
import type { Context } from '../../context.ts';
import { listAutopilots } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';
import { autopilotColumns } from './columns.ts';

const statuses = ['active', 'disabled', 'archived'] as const satisfies readonly AutopilotStatus[];

export const listAutopilotsCommand = (context: Context) =>
  new Command('list')
    .addOption(new Option('--status <status>', 'only those in this state').choices(statuses))
    .option(
      '--limit <count>',
      'at most so many, the latest changed first',
      wholeNumber({ min: 1, max: 200 }),
      100,
    )
    .addHelpText('after', example('gateway autopilots list --status active'))
    .action(async ({ status, limit }) => {
      const { data } = await context.client().call(listAutopilots, { query: { status, limit } });
      await context.out.table(data, autopilotColumns(context.now()), { empty: 'No autopilots.' });
    });
