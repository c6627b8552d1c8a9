import type { Thread } from '../../../shared/contract/threads.ts';
import { createThread, deleteThread, listThreadMessages, listThreads } from '../../addresses.ts';
import { collectPages } from '../../commands/collect-pages.ts';
import { ago } from '../../output/time.ts';
import type { Drawing, Page, Screen, Services } from '../screen.ts';
import { foreignLines } from '../text/cells.ts';

const threadsMax = 300;
const messagesMax = 200;

/** The conversations that are kept, and what was said in them. */
export const threadsScreen: Screen<Thread> = {
  id: 'threads',
  title: 'Threads',
  letter: 'h',
  aliases: ['thread', 'conversations'],
  empty: 'No threads yet: press c to begin one, then gateway chat --thread ID.',
  footer: ['open', 'compose', 'remove', 'filter', 'copy'],
  refreshEveryMs: 5000,
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
  compose: {
    label: 'begin a thread',
    hint: 'its title, or nothing: the first message gives it one',
    async run(line, { client }) {
      const title = line.trim();
      const { thread } = await client.call(createThread, { body: title === '' ? {} : { title } });
      return `Begun: gateway chat --thread ${thread.id}`;
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

async function openThread({ id, title }: Thread, { client }: Services): Promise<Page> {
  const messages = await collectPages(messagesMax, (query) =>
    client.call(listThreadMessages, { params: { id }, query }),
  );
  const oldestFirst = messages.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
  const said = oldestFirst.map(({ role, type, content }) => {
    const text = content
      .map((part) => (typeof part.text === 'string' ? part.text : JSON.stringify(part)))
      .join('\n');
    return { who: type === 'message' ? role : `${role} (${type})`, text };
  });
  return { title: title ?? id, lines: (drawing) => saidLines(said, drawing) };
}

/** Who said what, one after the other. */
export function saidLines(said: { who: string; text: string }[], { width, paint }: Drawing): string[] {
  if (said.length === 0) return ['Nothing was said yet.'];
  return said.flatMap(({ who, text }) => [
    ...foreignLines(who, width).map((line) => paint('bold', line)),
    ...foreignLines(text, width - 2).map((line) => `  ${line}`),
    '',
  ]);
}
