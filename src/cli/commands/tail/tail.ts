import { Command } from '@commander-js/extra-typings';
import type { EventView } from '../../../shared/contract/events.ts';
import { exitCodes } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import { streamEvents } from '../../endpoints.ts';
import { type KeyNames, keyNamesFor } from '../../names/key-names.ts';
import { example, wholeNumber } from '../../options.ts';
import { follow } from '../follow.ts';
import { eventLine, titleLine } from './event-line.ts';

export const tailCommand = (context: Context) =>
  new Command('tail')
    .option('--after <sequence>', 'start after this event instead of now', wholeNumber({ min: 0 }))
    .addHelpText('after', example('gateway tail --jq \'select(.type == "request.rejected")\''))
    .action(async ({ after }) => {
      await followAndShow(context, { after });
      context.exit = exitCodes.interrupted;
    });

/** Follows events until Ctrl-C. */
async function followAndShow(context: Context, { after }: { after?: number | undefined }): Promise<void> {
  let names = await keyNamesFor(context);
  await follow(context, {
    open: (lastId, options) =>
      context.client().stream(
        streamEvents,
        {
          query: { after: lastId === undefined ? after : undefined },
          headers: { 'last-event-id': lastId },
        },
        options,
      ),
    async show({ data }) {
      const event = JSON.parse(data) as EventView;
      if (event.type.startsWith('key.')) names = await keyNamesFor(context);
      await showEvent(context, event, names);
    },
    onFirst: () => showTitles(context),
  });
}

async function showEvent(context: Context, event: EventView, names: KeyNames): Promise<void> {
  if (context.out.wantsJson()) return context.out.element(event);
  const { stdout, columns } = context.io;
  const paint = context.out.paint.stdout;
  const line = eventLine(event, { isTty: stdout.isTty, columns: columns(), paint, names });
  if (line !== undefined) stdout.write(line);
}

function showTitles({ io, out }: Context): void {
  if (!io.stdout.isTty || out.wantsJson()) return;
  io.stdout.write(out.paint.stdout('bold', titleLine(io.columns())));
}
