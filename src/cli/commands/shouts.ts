import { Command } from '@commander-js/extra-typings';
import type { Shout, Zone } from '../../shared/contract/shouts.ts';
import {
  deleteShout,
  getShout,
  listShouts,
  listZones,
  postShout,
  streamShouts,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ago } from '../../view/durations.ts';
import { clockTime } from '../../view/times.ts';
import type { Context } from '../context.ts';
import { collectRows } from '../hosts/pages.ts';
import { example, wholeNumber, yesOption } from '../options.ts';
import { escapeCell, tabSeparatedCell } from '../output/escape-controls.ts';
import type { Column } from '../output/table.ts';
import { confirm, messageText } from '../terminal/prompts.ts';
import { pastTime, pastTimeHelp } from '../times.ts';
import { followRows } from './follow.ts';

export const postShoutCommand = (context: Context) =>
  new Command('post')
    .argument('[text]', 'the message (default: piped input)')
    .option('--zone <zone>', 'the zone: letters, digits and : _ - (default: global)')
    .addHelpText('after', example('gateway shouts post "Deploying in five minutes." --zone dev'))
    .action(async (text, { zone }) => {
      const body = await messageText(context, text);
      const { data } = await context.client().call(postShout, { body: { body, zone } });
      if (context.out.wantsJson()) return context.out.document(data);
      if (!context.io.stdout.isTty || context.out.isQuiet()) {
        return context.out.record(data, shoutColumns(context.now()), {
          pipedRow: shoutColumns(context.now()),
        });
      }
      context.out.note(`Posted to ${data.zone}.`);
    });

export const listShoutsCommand = (context: Context) =>
  new Command('list')
    .option('--zone <zone>', 'only shouts in this zone')
    .option('--since <time>', `only shouts since then: ${pastTimeHelp}`, pastTime(context))
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1 }), 50)
    .addHelpText('after', example('gateway shouts list --zone dev'))
    .action(async ({ zone, since, limit }) => {
      const found = await collectRows(limit, (page) =>
        context.client().call(listShouts, { query: { zone, since, ...page } }),
      );
      await context.out.table(found, shoutColumns(context.now()), { empty: 'No shouts.' });
    });

export const deleteShoutCommand = (context: Context) =>
  new Command('delete')
    .argument('<id>', 'the id of one of your shouts', wholeNumber({ min: 1 }))
    .addOption(yesOption())
    .addHelpText('after', example('gateway shouts delete 42 --yes'))
    .action(async (id, { yes }) => {
      const client = context.client();
      const find = () => client.call(getShout, { params: { id } });
      await confirm(context, `Delete shout ${id}?`, { yes, find });
      const { data } = await client.call(deleteShout, { params: { id } });
      return context.out.done(data, `Deleted ${id}.`);
    });

export const watchShoutsCommand = (context: Context) =>
  new Command('watch')
    .option('--zone <zone>', 'only shouts in this zone')
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

export const zonesCommand = (context: Context) =>
  new Command('zones')
    .option('--limit <count>', 'maximum number to list, busiest first', wholeNumber({ min: 1, max: 100 }), 20)
    .addHelpText('after', example('gateway zones'))
    .action(async ({ limit }) => {
      const { data } = await context.client().call(listZones, { query: { limit } });
      await context.out.table(data, zoneColumns, { empty: 'No shouts in the last 24 hours.' });
    });

const shoutColumns = (now: number): Column<Shout>[] => [
  { title: 'id', value: ({ id }) => id, align: 'right' },
  { title: 'zone', value: ({ zone }) => zone },
  { title: 'author', value: ({ author }) => author.handle },
  { title: 'text', value: ({ body }) => body },
  { title: 'at', value: ({ createdAt }) => createdAt, show: ({ createdAt }) => ago(createdAt, now) },
];

const zoneColumns: Column<Zone>[] = [
  { title: 'zone', value: ({ zone }) => zone },
  { title: 'count24h', label: 'last 24 hours', value: ({ count24h }) => count24h, align: 'right' },
];

/** One shout on one line: with the time of day on a terminal, with full time and id in a pipe. */
function shoutLine(
  { id, zone, body, createdAt, author }: Shout,
  { io, out }: Pick<Context, 'io' | 'out'>,
): string {
  if (!io.stdout.isTty) {
    return `${[createdAt, String(id), zone, author.handle, body].map(tabSeparatedCell).join('\t')}\n`;
  }
  const paint = out.paint.stdout;
  const who = `${paint('dim', escapeCell(zone))}  ${paint('cyan', escapeCell(author.handle))}`;
  return `${paint('dim', clockTime(createdAt))}  ${who}  ${escapeCell(body)}\n`;
}
