import type { WhisperThread } from '../../../shared/contract/whispers.ts';
import { ago, clockTime } from '../../output/time.ts';
import { listWhispers, listWhisperThreads, readAllWhispers, sendWhisper } from '../../site-addresses.ts';
import type { Page, Screen, Services } from '../screen.ts';
import { foreignLines } from '../text/cells.ts';
import { saidLines } from './threads.ts';

const shownMax = 200;

/** What people said to each other, a row a person. */
export const whispersScreen: Screen<WhisperThread> = {
  id: 'whispers',
  title: 'Whispers',
  letter: 'w',
  aliases: ['whisper', 'inbox', 'messages'],
  empty: 'No whispers yet: press c to send one.',
  footer: ['open', 'compose', 'reply', 'filter'],
  refreshEveryMs: 2000,
  columns: () => [
    { title: 'with', width: 16, text: ({ peer }) => peer.handle },
    {
      title: 'unread',
      width: 6,
      align: 'right',
      text: ({ unread }) => (unread === 0 ? '' : String(unread)),
      style: ({ unread }) => (unread > 0 ? 'yellow' : undefined),
    },
    { title: 'last', width: 20, grows: true, text: ({ last }) => `${last.sender.handle}: ${last.body}` },
    { title: 'when', width: 15, spare: 1, text: ({ last }, { now }) => ago(last.createdAt, now) },
  ],
  load: async ({ client }) => (await client.call(listWhisperThreads, { query: { limit: shownMax } })).data,
  idOf: ({ peer }) => peer.handle,
  copyText: ({ peer }) => peer.handle,
  commandText: ({ peer }) => `gateway whispers thread ${peer.handle}`,
  json: (thread) => thread,
  aside: ({ peer, last }, { width }) => [
    ...foreignLines(`${peer.name} (${peer.handle})`, width),
    '',
    ...foreignLines(last.body, width),
  ],
  open: openWhispers,
  compose: {
    label: 'whisper',
    hint: 'to whom, then what: alice The build is green.',
    async run(line, { client }) {
      const [, to = '', body = ''] = /^\s*@?(\S+)\s+([\s\S]+)$/.exec(line) ?? [];
      if (body === '') throw new Error('Write to whom, a blank, then what: alice The build is green.');
      await client.call(sendWhisper, { body: { recipientHandle: to, body } });
      return `Whispered to ${to}.`;
    },
  },
  reply: {
    label: 'reply',
    hint: 'what to say',
    needsRow: true,
    async run(line, { client }, row) {
      if (!row) return 'Nobody is selected.';
      await client.call(sendWhisper, { body: { recipientHandle: row.peer.handle, body: line } });
      return `Whispered to ${row.peer.handle}.`;
    },
  },
};

/** What was said with one person; it counts as read once it is on the screen. */
async function openWhispers({ peer, unread }: WhisperThread, { client }: Services): Promise<Page> {
  const { data } = await client.call(listWhispers, { query: { with: peer.handle, limit: shownMax } });
  if (unread > 0) await client.call(readAllWhispers, { query: { with: peer.handle } });
  const said = data
    .toReversed()
    .map(({ sender, createdAt, body }) => ({ who: `${sender.handle}  ${clockTime(createdAt)}`, text: body }));
  return { title: `with ${peer.handle}`, lines: (drawing) => saidLines(said, drawing) };
}
