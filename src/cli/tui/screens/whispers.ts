import type { Whisper, WhisperThread } from '../../../shared/contract/whispers.ts';
import type { SseEvent } from '../../../shared/sse.ts';
import { ago, clockTime } from '../../output/time.ts';
import {
  listWhispers,
  listWhisperThreads,
  readAllWhispers,
  sendWhisper,
  streamWhispers,
} from '../../site-addresses.ts';
import type { Page, RowStream, Screen, Services } from '../screen.ts';
import { foreignLines } from '../text/cells.ts';
import { saidLines } from '../text/pages.ts';

const shownMax = 200;

const stream: RowStream<WhisperThread> = {
  cursor: (threads) => String(Math.max(0, ...threads.map(({ last }) => last.id))),
  open: (client, lastId, options) =>
    client.stream(streamWhispers, { headers: { 'last-event-id': lastId } }, options),
  see: seeWhisper,
};

/** What people said to each other, a row a person. */
export const whispersScreen: Screen<WhisperThread> = {
  id: 'whispers',
  title: 'Whispers',
  letter: 'w',
  aliases: ['whisper', 'inbox', 'messages'],
  empty: [
    'No whispers yet: press c to send one.',
    'They go from one person of this host to another, and nobody else reads them.',
  ],
  footer: ['open', 'compose', 'reply', 'next-unread', 'filter'],
  refreshEveryMs: 60_000,
  stream,
  columns: () => [
    { title: 'with', width: 16, text: ({ peer }) => peer.handle },
    {
      title: 'unread',
      width: 6,
      align: 'right',
      text: ({ unread }) => (unread === 0 ? '' : String(unread)),
      style: ({ unread }) => (unread > 0 ? 'yellow' : undefined),
    },
    { title: 'last', width: 20, grows: true, text: lastText },
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
  open: ({ peer }, services) => openWhispers(peer.handle, services),
  conversation: ({ peer }, services) => openWhispers(peer.handle, services),
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
    run: async (line, services, row) =>
      row ? reply(row.peer.handle, line, services) : 'Nobody is selected.',
  },
};

async function reply(handle: string, line: string, { client }: Services): Promise<string> {
  if (line.trim() === '') throw new Error('Write what to say.');
  await client.call(sendWhisper, { body: { recipientHandle: handle, body: line } });
  return `Whispered to ${handle}.`;
}

/** The last whisper, told as the caller's own where it is. */
function lastText({ peer, last }: WhisperThread): string {
  return last.sender.id === peer.id ? last.body : `you: ${last.body}`;
}

/** A new whisper moves its person to the top; what was read, and who writes for the first time, must be fetched. */
function seeWhisper(threads: WhisperThread[], { event, data }: SseEvent): WhisperThread[] | undefined {
  if (event !== 'whisper.created') return undefined;
  const whisper = JSON.parse(data) as Whisper;
  const thread = threads.find(
    ({ peer }) => peer.id === whisper.sender.id || peer.id === whisper.recipient.id,
  );
  if (!thread) return undefined;
  if (thread.last.id >= whisper.id) return threads;
  const unread = thread.unread + (whisper.sender.id === thread.peer.id ? 1 : 0);
  return [{ ...thread, last: whisper, unread }, ...threads.filter((one) => one !== thread)];
}

/** What was said with one person; it counts as read once it is on the screen. */
export async function openWhispers(handle: string, services: Services): Promise<Page> {
  const { client } = services;
  const { data } = await client.call(listWhispers, { query: { with: handle, limit: shownMax } });
  const isUnread = data.some(({ sender, readAt }) => readAt === null && sender.handle === handle);
  if (isUnread) await client.call(readAllWhispers, { query: { with: handle } });
  const said = data.toReversed().map(({ sender, createdAt, body }) => ({
    who: `${sender.handle === handle ? handle : 'you'}  ${clockTime(createdAt)}`,
    text: body,
  }));
  const isTold = ({ data: told }: SseEvent) => {
    const { sender, recipient } = JSON.parse(told) as Whisper;
    return sender.handle === handle || recipient.handle === handle;
  };
  return {
    title: `with ${handle}`,
    lines: (drawing) => saidLines(said, drawing),
    beginsAtEnd: true,
    reply: {
      label: `to ${handle}`,
      hint: 'what to say',
      run: (line, own) => reply(handle, line, own),
    },
    life: { renew: () => openWhispers(handle, services), isTold },
  };
}
