import { Command } from '@commander-js/extra-typings';
import type { Whisper } from '../../../shared/contract/whispers.ts';
import { exitCodes } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import { listWhispers, streamWhispers } from '../../site-addresses.ts';
import { example } from '../example.ts';
import { followRows } from '../follow-rows.ts';
import { whisperLine } from './whisper-line.ts';

export const watchWhispersCommand = (context: Context) =>
  new Command('watch')
    .addHelpText('after', example('gateway whispers watch --jq \'.sender.handle + ": " + .body\''))
    .action(async () => {
      await followRows(context, {
        newest: async () => {
          const { data } = await context.client().call(listWhispers, { query: { limit: 1 } });
          return data[0]?.id ?? 0;
        },
        open: (lastId, options) =>
          context.client().stream(streamWhispers, { headers: { 'last-event-id': lastId } }, options),
        show: ({ event, data }) => {
          if (event !== 'whisper.created') return;
          const whisper = JSON.parse(data) as Whisper;
          if (context.out.wantsJson()) return context.out.element(whisper);
          context.io.stdout.write(whisperLine(whisper, context));
        },
      });
      context.exit = exitCodes.interrupted;
    });
