import type { Shout } from '../../../shared/contract/shouts.ts';
import type { SseEvent } from '../../../shared/sse.ts';
import { getSession } from '../../addresses.ts';
import { clockTime } from '../../output/time.ts';
import { deleteShout, listShouts, postShout, streamShouts } from '../../site-addresses.ts';
import type { RowStream, Screen } from '../screen.ts';
import { foreignLines } from '../text/cells.ts';
import { textPage } from '../text/pages.ts';
import { openWhispers } from './whispers.ts';

const shownMax = 200;

const stream: RowStream<Shout> = {
  cursor: (shouts) => String(shouts[0]?.id ?? 0),
  open: (client, lastId, options) =>
    client.stream(streamShouts, { query: {}, headers: { 'last-event-id': lastId } }, options),
  see: seeShout,
};

/** What was said to everybody, newest first. */
export const shoutsScreen: Screen<Shout> = {
  id: 'shouts',
  title: 'Shouts',
  letter: 's',
  aliases: ['shout', 'zones'],
  empty: ['No shouts yet: press c to shout.', 'Everybody on this host reads them.'],
  footer: ['open', 'compose', 'conversation', 'pause', 'filter'],
  refreshEveryMs: 30_000,
  stream,
  columns: () => [
    { title: 'time', width: 8, text: ({ createdAt }) => clockTime(createdAt) },
    { title: 'zone', width: 12, spare: 1, text: ({ zone }) => zone, style: () => 'cyan' },
    { title: 'who', width: 14, text: ({ author }) => author.handle },
    { title: 'what', width: 20, grows: true, text: ({ body }) => body },
  ],
  load: async ({ client }) => (await client.call(listShouts, { query: { limit: shownMax } })).data,
  idOf: ({ id }) => String(id),
  copyText: ({ body }) => body,
  json: (shout) => shout,
  aside: ({ author, zone, body }, { width }) => [
    ...foreignLines(`${author.handle} in ${zone}`, width),
    '',
    ...foreignLines(body, width),
  ],
  async conversation({ author }, services) {
    const { user } = await services.client.call(getSession, {});
    if (user.handle === author.handle) throw new Error('You said this yourself.');
    return openWhispers(author.handle, services);
  },
  open: async ({ author, zone, body }) => textPage(`${author.handle} in ${zone}`, body),
  compose: {
    label: 'shout',
    hint: 'what to say to everybody; #zone in front says where',
    async run(line, { client }) {
      const [, zone, body = ''] = /^(?:#([A-Za-z0-9:_-]+)\s+)?([\s\S]*)$/.exec(line.trim()) ?? [];
      const { data } = await client.call(postShout, { body: zone === undefined ? { body } : { body, zone } });
      return `Shouted in ${data.zone}.`;
    },
  },
  remove: {
    question: (rows) => (rows.length === 1 ? 'Delete this shout?' : `Delete ${rows.length} shouts?`),
    verb: 'Delete',
    async run(rows, { client }) {
      for (const { id } of rows) await client.call(deleteShout, { params: { id } });
      return rows.length === 1 ? 'Deleted.' : `Deleted ${rows.length} shouts.`;
    },
  },
};

/** Newest first, and no more of them than are fetched. What was deleted is told by no event. */
function seeShout(shouts: Shout[], { event, data }: SseEvent): Shout[] | undefined {
  if (event !== 'shout.created') return shouts;
  const shout = JSON.parse(data) as Shout;
  if (shouts.some(({ id }) => id === shout.id)) return shouts;
  return [shout, ...shouts].slice(0, shownMax);
}
