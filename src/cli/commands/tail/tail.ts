import { Command, Option } from '@commander-js/extra-typings';
import { callEnds } from '../../../shared/constants/call-statuses.ts';
import type { EventView } from '../../../shared/contract/events.ts';
import { streamEvents } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import type { KeyNames } from '../../../view/key-names.ts';
import type { Context } from '../../context.ts';
import { keyNamesFor } from '../../names/key-names.ts';
import { resolveFilter } from '../../names/resolve.ts';
import { example, wholeNumber } from '../../options.ts';
import { follow } from '../follow.ts';
import { eventLine, titleLine } from './event-line.ts';

export const tailCommand = (context: Context) =>
  new Command('tail')
    .option('--after <sequence>', 'start after this event instead of now', wholeNumber({ min: 0 }))
    .option('--key <key>', 'only calls of this key, by id or name')
    .option('--model <model>', 'only calls of this model')
    .addOption(new Option('--status <status>', 'only finished calls with this status').choices(callEnds))
    .addHelpText('after', example('gateway tail --status rejected --key my-app'))
    .action(async ({ after, ...filter }) => {
      await followAndShow(context, { after, ...(await resolveFilter(context, filter)) });
      context.exit = exitCodes.interrupted;
    });

interface TailOptions {
  after?: number | undefined;
  key?: string | undefined;
  model?: string | undefined;
  status?: string | undefined;
}

/** Follows events until Ctrl-C. */
async function followAndShow(context: Context, options: TailOptions): Promise<void> {
  const { after, key } = options;
  let names = await keyNamesFor(context);
  await follow(context, {
    open: (lastId, options) =>
      context.client().stream(
        streamEvents,
        {
          query: { after: lastId === undefined ? after : undefined, key },
          headers: { 'last-event-id': lastId },
        },
        options,
      ),
    async show({ data }) {
      const event = JSON.parse(data) as EventView;
      if (event.type.startsWith('key.')) names = await keyNamesFor(context);
      if (isWanted(event, options)) await showEvent(context, event, names);
    },
    onFirst: () => showTitles(context),
  });
}

/** Gaps in what is shown are always of interest. */
function isWanted({ type, data }: EventView, { model, status }: TailOptions): boolean {
  if (type === 'events.gap' || type === 'events.dropped') return true;
  return (model === undefined || data.model === model) && (status === undefined || data.status === status);
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
