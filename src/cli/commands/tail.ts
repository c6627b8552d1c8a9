import { Command } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import type { Context } from '../context.ts';
import { example } from './example.ts';
import { wholeNumber } from './number-option.ts';
import { followAndShow } from './tail/follow.ts';

export const tailCommand = (context: Context) =>
  new Command('tail')
    .option('--after <sequence>', 'begin after this event instead of now', wholeNumber({ min: 0 }))
    .addHelpText('after', example('gateway tail --jq \'select(.type == "request.failed")\''))
    .action(async ({ after }) => {
      await followAndShow(context, { after });
      context.exit = exitCodes.interrupted;
    });
