import type { Shout } from '../../../shared/contract/shouts.ts';
import { deleteShout, getSession, listShouts, postShout, streamShouts } from '../../../shared/endpoints.ts';
import type { SseEvent } from '../../../shared/http/sse.ts';
import { clockTime } from '../../../view/times.ts';
import { untrustedLines } from '../text/cells.ts';
import type { RowStream, Screen } from './screen.ts';
import { openWhispers } from './whispers.ts';

const shownMax = 200;

const stream: RowStream<Shout> = {
  cursor: (shouts) => String(shouts[0]?.id ?? 0),
  open: (client, lastId, options) =>
    client.stream(streamShouts, { query: {}, headers: { 'last-event-id': lastId } }, options),
  apply: applyEvent,
};

/** Public messages, newest first. */
export const shoutsScreen: Screen<Shout> = {
  id: 'shouts',
  title: 'Shouts',
  letter: 's',
  aliases: ['shout', 'zones'],
  empty: ['No shouts yet. Press c to post one.', 'Everyone on this host can read them.'],
  footer: ['open', 'compose', 'conversation', 'pause', 'filter'],
  refreshEveryMs: 30_000,
  stream,
  columns: () => [
    { title: 'time', width: 8, text: ({ createdAt }) => clockTime(createdAt) },
    { title: 'zone', width: 12, spare: 1, text: ({ zone }) => zone, style: () => 'cyan' },
    { title: 'author', width: 14, text: ({ author }) => author.handle },
    { title: 'text', width: 20, grows: true, text: ({ body }) => body },
  ],
  load: async ({ client }) => (await client.call(listShouts, { query: { limit: shownMax } })).data,
  idOf: ({ id }) => String(id),
  copyText: ({ body }) => body,
  json: (shout) => shout,
  preview: ({ author, zone, body }, { width }) => [
    ...untrustedLines(`${author.handle} in ${zone}`, width),
    '',
    ...untrustedLines(body, width),
  ],
  async conversation({ author }, services) {
    const { user } = await services.client.call(getSession, {});
    if (user.handle === author.handle) throw new Error('This shout is your own.');
    return openWhispers(author.handle, services);
  },
  open: async ({ author, zone, body }) => ({
    title: `${author.handle} in ${zone}`,
    lines: ({ width }) => untrustedLines(body, width),
    copy: body,
  }),
  compose: {
    label: 'shout',
    placeholder: 'a message for everyone; start with #zone to choose a zone',
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

/** Deleted shouts have no event. */
function applyEvent(shouts: Shout[], { event, data }: SseEvent): Shout[] | undefined {
  if (event !== 'shout.created') return shouts;
  const shout = JSON.parse(data) as Shout;
  if (shouts.some(({ id }) => id === shout.id)) return shouts;
  return [shout, ...shouts].slice(0, shownMax);
}
