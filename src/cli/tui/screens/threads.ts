import type { Thread, ThreadMessage } from '../../../shared/contract/threads.ts';
import {
  createThread,
  deleteThread,
  followThread,
  getThread,
  listThreadMessages,
  listThreads,
} from '../../../shared/endpoints.ts';
import { ago } from '../../../view/durations.ts';
import { textOf } from '../../commands/threads.ts';
import { collectPages } from '../../hosts/pages.ts';
import type { Services } from '../services/services.ts';
import { untrustedLines } from '../text/cells.ts';
import { askModel } from './ask-model.ts';
import { messageLines } from './pages.ts';
import type { Page, Screen } from './screen.ts';

const threadsMax = 300;
const messagesMax = 1000;

/** The stored conversations with models. */
export const threadsScreen: Screen<Thread> = {
  id: 'threads',
  title: 'Threads',
  letter: 'h',
  aliases: ['thread', 'conversations'],
  empty: [
    'No threads yet. Press c to create one, then r to add a message.',
    'A thread stores a conversation; API calls name it in service.thread.',
  ],
  footer: ['open', 'compose', 'reply', 'remove', 'filter'],
  refreshEveryMs: 15_000,
  isAffectedBy: ({ type }) => /^request\.(started|completed|failed)$/.test(type),
  columns: () => [
    { title: 'title', width: 20, grows: true, text: ({ title }) => title ?? '–' },
    {
      title: 'state',
      width: 8,
      text: ({ working }) => (working ? 'working' : 'idle'),
      style: ({ working }) => (working ? 'cyan' : undefined),
    },
    { title: 'updated', width: 15, text: ({ updated_at }, { now }) => ago(updated_at, now) },
    { title: 'id', width: 29, spare: 1, text: ({ id }) => id },
  ],
  load: ({ client }) => collectPages(threadsMax, (query) => client.call(listThreads, { query })),
  idOf: ({ id }) => id,
  copyText: ({ id }) => id,
  commandText: ({ id }) => `gateway threads show ${id}`,
  json: (thread) => thread,
  preview: ({ id, title, working, created_at }, { now, width }) => [
    id,
    ...untrustedLines(title ?? 'untitled', width),
    working ? 'working' : 'idle',
    `created ${ago(created_at, now)}`,
  ],
  open: openThread,
  conversation: openThread,
  compose: {
    label: 'create a thread',
    placeholder: 'title; if empty, the first message becomes the title',
    async run(line, { client }) {
      const title = line.trim();
      const { thread } = await client.call(createThread, { body: title === '' ? {} : { title } });
      return `Created. Press r to add a message, or run: gateway chat --thread ${thread.id}`;
    },
  },
  reply: {
    label: 'message',
    labelFor: ({ id, title }) => `message in ${title ?? id}`,
    placeholder: 'a message for this thread',
    needsRow: true,
    async run(text, services, row) {
      if (!row) return 'No thread is selected.';
      await askModel({ text, thread: row.id }, services);
      return 'The model has replied.';
    },
  },
  remove: {
    question: (rows) =>
      rows.length === 1
        ? `Delete "${rows[0]?.title ?? rows[0]?.id}" and all of its messages?`
        : `Delete ${rows.length} threads and all of their messages?`,
    verb: 'Delete',
    async run(rows, { client }) {
      for (const { id } of rows) await client.call(deleteThread, { params: { id } });
      return rows.length === 1 ? 'Deleted.' : `Deleted ${rows.length} threads.`;
    },
  },
};

/** The messages of a thread; each of its events reloads the page. */
async function openThread({ id, title }: Thread, services: Services): Promise<Page> {
  const { client } = services;
  const [{ thread }, messages] = await Promise.all([
    client.call(getThread, { params: { id } }),
    collectPages(messagesMax, (query) => client.call(listThreadMessages, { params: { id }, query })),
  ]);
  const shown = messages.map((message) => ({ author: authorOf(message), text: textOf(message) }));
  const asked = Math.max(
    0,
    messages.findLastIndex(({ role }) => role === 'user'),
  );
  if (thread.working) shown.push({ author: 'working…', text: 'A call is running.' });
  return {
    title: title ?? id,
    lines: (options) => messageLines(shown, options),
    startsAtEnd: true,
    turns: (options) => ({ lastTurn: messageLines(shown.slice(0, asked), options).length, hasFolds: false }),
    updates: {
      reload: () => openThread(thread, services),
      stream: (lastId, options) =>
        client.stream(
          followThread,
          { params: { id }, query: {}, headers: { 'last-event-id': lastId } },
          options,
        ),
    },
  };
}

function authorOf({ role, type }: ThreadMessage): string {
  return type === 'message' ? role : `${role} (${type})`;
}
