import type { Whisper, WhisperThread } from '../../../shared/contract/whispers.ts';
import {
  listWhispers,
  listWhisperThreads,
  readAllWhispers,
  sendWhisper,
  streamWhispers,
} from '../../../shared/endpoints.ts';
import type { SseEvent } from '../../../shared/http/sse.ts';
import { ago } from '../../../view/durations.ts';
import { clockTime } from '../../../view/times.ts';
import { explainUnknownUser } from '../../commands/whispers.ts';
import type { Services } from '../services/services.ts';
import { untrustedLines } from '../text/cells.ts';
import { messageLines } from './pages.ts';
import type { Page, RowStream, Screen } from './screen.ts';

const shownMax = 200;

const stream: RowStream<WhisperThread> = {
  cursor: (threads) => String(Math.max(0, ...threads.map(({ last }) => last.id))),
  open: (client, lastId, options) =>
    client.stream(streamWhispers, { headers: { 'last-event-id': lastId } }, options),
  apply: applyEvent,
};

/** Private messages, one row per person. */
export const whispersScreen: Screen<WhisperThread> = {
  id: 'whispers',
  title: 'Whispers',
  letter: 'w',
  aliases: ['whisper', 'inbox', 'messages'],
  empty: [
    'No whispers yet. Press c to send one.',
    'Whispers are private messages between two users of this host.',
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
    {
      title: 'when',
      width: 15,
      spare: 1,
      value: ({ last }) => last.createdAt,
      text: ({ last }, { now }) => ago(last.createdAt, now),
    },
  ],
  load: async ({ client }) => (await client.call(listWhisperThreads, { query: { limit: shownMax } })).data,
  idOf: ({ peer }) => peer.handle,
  copyText: ({ peer }) => peer.handle,
  commandText: ({ peer }) => `gateway whispers thread ${peer.handle}`,
  json: (thread) => thread,
  preview: ({ peer, last }, { width }) => [
    ...untrustedLines(`${peer.name} (${peer.handle})`, width),
    '',
    ...untrustedLines(last.body, width),
  ],
  open: ({ peer }, services) => openWhispers(peer.handle, services),
  conversation: ({ peer }, services) => openWhispers(peer.handle, services),
  compose: {
    label: 'whisper',
    placeholder: 'recipient and message: alice The build is green.',
    async run(line, { client }) {
      const [, to = '', body = ''] = /^\s*@?(\S+)\s+([\s\S]+)$/.exec(line) ?? [];
      if (body === '')
        throw new Error('Type the recipient, a space and the message: alice The build is green.');
      await client
        .call(sendWhisper, { body: { recipientHandle: to, body } })
        .catch((error: unknown) => explainUnknownUser(client, to, error));
      return `Sent to ${to}.`;
    },
  },
  reply: {
    label: 'reply',
    labelFor: ({ peer }) => `to ${peer.handle}`,
    placeholder: 'message',
    needsRow: true,
    run: async (line, services, row) =>
      row ? reply(row.peer.handle, line, services) : 'No row is selected.',
  },
};

async function reply(handle: string, line: string, { client }: Services): Promise<string> {
  if (line.trim() === '') throw new Error('Type a message first.');
  await client.call(sendWhisper, { body: { recipientHandle: handle, body: line } });
  return `Sent to ${handle}.`;
}

/** Marks the caller's own whispers. */
function lastText({ peer, last }: WhisperThread): string {
  return last.sender.id === peer.id ? last.body : `you: ${last.body}`;
}

/** A new whisper moves its person to the top. Read marks and new people require a reload. */
function applyEvent(threads: WhisperThread[], { event, data }: SseEvent): WhisperThread[] | undefined {
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

/** The whispers with one person. Opening them marks them as read. */
export async function openWhispers(handle: string, services: Services): Promise<Page> {
  const { client } = services;
  const { data } = await client.call(listWhispers, { query: { with: handle, limit: shownMax } });
  const isUnread = data.some(({ sender, readAt }) => readAt === null && sender.handle === handle);
  if (isUnread) await client.call(readAllWhispers, { query: { with: handle } });
  const messages = data.toReversed().map(({ sender, createdAt, body }) => ({
    author: `${sender.handle === handle ? handle : 'you'}  ${clockTime(createdAt)}`,
    text: body,
  }));
  const isAffectedByRow = ({ data: json }: SseEvent) => {
    const { sender, recipient } = JSON.parse(json) as Whisper;
    return sender.handle === handle || recipient.handle === handle;
  };
  return {
    title: `with ${handle}`,
    lines: (options) => messageLines(messages, options),
    startsAtEnd: true,
    reply: {
      label: `to ${handle}`,
      placeholder: 'message',
      run: (line, own) => reply(handle, line, own),
    },
    updates: { reload: () => openWhispers(handle, services), isAffectedByRow },
  };
}
