import { Command } from '@commander-js/extra-typings';
import type { Context } from '../context.ts';
import { listZones } from '../site-addresses.ts';
import { example } from './example.ts';
import { wholeNumber } from './number-option.ts';
import { zoneColumns } from './shouts/columns.ts';

export const zonesCommand = (context: Context) =>
  new Command('zones')
    .option('--limit <count>', 'at most so many, the loudest first', wholeNumber({ min: 1, max: 100 }), 20)
    .addHelpText('after', example('gateway zones'))
    .action(async ({ limit }) => {
      const { data } = await context.client().call(listZones, { query: { limit } });
      await context.out.table(data, zoneColumns, { empty: 'Nobody shouted in the last 24 hours.' });
    });
