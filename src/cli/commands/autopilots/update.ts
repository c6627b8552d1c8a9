import { Command, Option } from '@commander-js/extra-typings';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { updateAutopilot } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { detailColumns } from './columns.ts';
import { autopilotBody, autopilotFlags } from './flags.ts';

export const updateAutopilotCommand = (context: Context) =>
  autopilotFlags(
    new Command('update')
      .argument('<autopilot>', 'the id or handle of one of yours')
      .option('--name <name>', 'its name, for people')
      .addOption(
        new Option('--status <status>', 'what it is from now on').choices(['active', 'disabled'] as const),
      ),
  )
    .addHelpText('after', example('gateway autopilots update night-watch --status disabled'))
    .action(async (autopilot, { name: displayName, status, ...flags }) => {
      const body = { displayName, status, ...autopilotBody(flags) };
      if (Object.values(body).every((value) => value === undefined)) {
        throw new CliError('Nothing was said to change.', { exit: exitCodes.usage });
      }
      const { data } = await context.client().call(updateAutopilot, { params: { autopilot }, body });
      await context.out.record(data, detailColumns(context.now()));
    });
