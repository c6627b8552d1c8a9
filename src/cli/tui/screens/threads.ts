import type { Thread, ThreadMessage } from '../../../shared/contract/threads.ts';
import {
  createThread,
  deleteThread,
  followThread,
  getThread,
  listThreadMessages,
  listThreads,
} from '../../addresses.ts';
import { collectPages } from '../../commands/collect-pages.ts';
import { textOf } from '../../commands/threads/show.ts';
import { ago } from '../../output/time.ts';
import type { Page, Screen, Services } from '../screen.ts';
import { foreignLines } from '../text/cells.ts';
import { saidLines } from '../text/pages.ts';
import { askModel } from './ask-model.ts';

const threadsMax = 300;
const messagesMax = 1000;

/** The conversations that are kept, and what was said in them. */
export const threadsScreen: Screen<Thread> = {
  id: 'threads',
  title: 'Threads',
  letter: 'h',
  aliases: ['thread', 'conversations'],
  empty: [
    'No threads yet: press c to begin one, then r to say something in it.',
    'A thread keeps a conversation with a model; calls go on in it with service.thread.',
  ],
  footer: ['open', 'compose', 'reply', 'remove', 'filter'],
  refreshEveryMs: 15_000,
  isTouchedBy: ({ type }) => /^request\.(started|completed|failed)$/.test(type),
  columns: () => [
    { title: 'title', width: 20, grows: true, text: ({ title }) => title ?? '–' },
    {
      title: 'state',
      width: 8,
      text: ({ working }) => (working ? 'working' : 'at rest'),
      style: ({ working }) => (working ? 'cyan' : undefined),
    },
    { title: 'changed', width: 15, text: ({ updated_at }, { now }) => ago(updated_at, now) },
    { title: 'id', width: 29, spare: 1, text: ({ id }) => id },
  ],
  load: ({ client }) => collectPages(threadsMax, (query) => client.call(listThreads, { query })),
  idOf: ({ id }) => id,
  copyText: ({ id }) => id,
  commandText: ({ id }) => `gateway threads show ${id}`,
  json: (thread) => thread,
  aside: ({ id, title, working, created_at }, { now, width }) => [
    id,
    ...foreignLines(title ?? 'no title', width),
    working ? 'working' : 'at rest',
    `begun ${ago(created_at, now)}`,
  ],
  open: openThread,
  conversation: openThread,
  compose: {
    label: 'begin a thread',
    hint: 'its title, or nothing: the first message gives it one',
    async run(line, { client }) {
      const title = line.trim();
      const { thread } = await client.call(createThread, { body: title === '' ? {} : { title } });
      return `Begun; r says something in it, and so does: gateway chat --thread ${thread.id}`;
    },
  },
  reply: {
    label: 'say',
    hint: 'what to say in this thread',
    needsRow: true,
    async run(text, services, row) {
      if (!row) return 'No thread is selected.';
      await askModel({ text, thread: row.id }, services);
      return 'Answered.';
    },
  },
  remove: {
    question: (rows) =>
      rows.length === 1
        ? `Delete "${rows[0]?.title ?? rows[0]?.id}" with all that was said?`
        : `Delete ${rows.length} threads with all that was said?`,
    verb: 'Delete',
    async run(rows, { client }) {
      for (const { id } of rows) await client.call(deleteThread, { params: { id } });
      return rows.length === 1 ? 'Deleted.' : `Deleted ${rows.length} threads.`;
    },
  },
};

/** What was said in a thread, and what is being said: each of its events has it fetched anew. */
async function openThread({ id, title }: Thread, services: Services): Promise<Page> {
  const { client } = services;
  const [{ thread }, messages] = await Promise.all([
    client.call(getThread, { params: { id } }),
    collectPages(messagesMax, (query) => client.call(listThreadMessages, { params: { id }, query })),
  ]);
  const said = messages.map((message) => ({ who: whoSaid(message), text: textOf(message) }));
  if (thread.working) said.push({ who: 'working …', text: 'A call is under way.' });
  return {
    title: title ?? id,
    lines: (drawing) => saidLines(said, drawing),
    beginsAtEnd: true,
    life: {
      renew: () => openThread({ ...thread, title: thread.title }, services),
      open: (lastId, options) =>
        client.stream(
          followThread,
          { params: { id }, query: {}, headers: { 'last-event-id': lastId } },
          options,
        ),
    },
  };
}

function whoSaid({ role, type }: ThreadMessage): string {
  return type === 'message' ? role : `${role} (${type})`;
}
