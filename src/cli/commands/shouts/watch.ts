import { Command } from '@commander-js/extra-typings';
import type { Shout } from '../../../shared/contract/shouts.ts';
import { exitCodes } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import { listShouts, streamShouts } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { followRows } from '../follow-rows.ts';
import { shoutLine } from './columns.ts';

export const watchShoutsCommand = (context: Context) =>
  new Command('watch')
    .option('--zone <zone>', 'only those of this zone')
    .addHelpText('after', example('gateway shouts watch --zone dev'))
    .action(async ({ zone }) => {
      await followRows(context, {
        newest: async () => {
          const { data } = await context.client().call(listShouts, { query: { limit: 1 } });
          return data[0]?.id ?? 0;
        },
        open: (lastId, options) =>
          context
            .client()
            .stream(streamShouts, { query: { zone }, headers: { 'last-event-id': lastId } }, options),
        show: ({ data }) => {
          const shout = JSON.parse(data) as Shout;
          if (context.out.wantsJson()) return context.out.element(shout);
          context.io.stdout.write(shoutLine(shout, context));
        },
      });
      context.exit = exitCodes.interrupted;
    });
