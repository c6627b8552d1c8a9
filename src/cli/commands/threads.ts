import { Command } from '@commander-js/extra-typings';
import type { Thread, ThreadEvent, ThreadMessage } from '../../shared/contract/threads.ts';
import {
  createThread,
  deleteThread,
  followThread,
  getThread,
  listThreadMessages,
  listThreads,
  stopThread,
  updateThread,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ago } from '../../view/durations.ts';
import { clockTime } from '../../view/times.ts';
import type { Context } from '../context.ts';
import { collectPages } from '../hosts/pages.ts';
import { asGiven, resolveThread } from '../names/resolve.ts';
import { example, wholeNumber, yesOption } from '../options.ts';
import { escapeCell, escapeControls, tabSeparatedCell } from '../output/escape-controls.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';
import { follow } from './follow.ts';

export const listThreadsCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1 }), 20)
    .addHelpText('after', example('gateway threads list --json=id,title'))
    .action(async ({ limit }) => {
      const rows = await collectPages(limit, (page) => context.client().call(listThreads, { query: page }));
      await context.out.table(rows, threadColumns(context.now()), { empty: 'No threads.' });
    });

export const showThreadCommand = (context: Context) =>
  new Command('show')
    .argument('<thread>', 'the id (th_…) or title of a thread')
    .option('--limit <count>', 'maximum number of messages, oldest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway threads show th_01jd…'))
    .action(async (given, { limit }) => {
      const id = await resolveThread(context, given);
      const params = { id };
      const { thread } = await context.client().call(getThread, { params });
      const messages = await collectPages(limit, (query) =>
        context.client().call(listThreadMessages, { params, query }),
      );
      if (context.out.wantsJson()) return context.out.document({ ...thread, messages });
      if (thread.title !== null) context.out.note(thread.title);
      if (thread.working) context.out.note(`A call is running. To follow it: gateway threads watch ${id}`);
      if (context.io.stdout.isTty && messages.length > 0) return showTalk(context, messages);
      await context.out.table(messages, columns, { empty: 'No messages.' });
    });

/** Prints a conversation for reading. */
function showTalk({ io, out }: Context, messages: ThreadMessage[]): void {
  const blocks = messages.map((message) => {
    const role = out.paint.stdout('bold', escapeCell(message.role));
    return `${role}\n${escapeControls(textOf(message)).trimEnd()}\n`;
  });
  io.stdout.write(blocks.join('\n'));
}

const columns: Column<ThreadMessage>[] = [
  { title: 'role', value: (message) => message.role },
  { title: 'text', value: textOf },
];

/** The text of a message, or a summary of a function call or its output. */
export function textOf({ type, content }: ThreadMessage): string {
  if (type === 'message')
    return content.map((part) => part.text ?? part.refusal ?? `[${part.type}]`).join('');
  const [item = {}] = content;
  if (type === 'function_call') return `${item.name}(${item.arguments})`;
  if (type === 'custom_tool_call') return `${item.name}(${item.input})`;
  if (type === 'function_call_output' || type === 'custom_tool_call_output')
    return typeof item.output === 'string' ? item.output : JSON.stringify(item.output);
  return `[${type}]`;
}

export const createThreadCommand = (context: Context) =>
  new Command('create')
    .argument('[title]', 'its title (default: from the first message)')
    .addHelpText('after', example('gateway threads create "Trip to Rome"'))
    .action(async (title) => {
      const { thread } = await context.client().call(createThread, { body: { title } });
      await context.out.record(thread, threadColumns(context.now()));
    });

export const renameThreadCommand = (context: Context) =>
  new Command('rename')
    .argument('<thread>', 'the id (th_…) or title of a thread')
    .argument('<title>', 'its new title')
    .addHelpText('after', example('gateway threads rename th_01jd… "Trip to Rome"'))
    .action(async (given, title) => {
      const params = { id: await resolveThread(context, given) };
      const { thread } = await context.client().call(updateThread, { params, body: { title } });
      await context.out.record(thread, threadColumns(context.now()));
    });

export const deleteThreadCommand = (context: Context) =>
  new Command('delete')
    .argument('<thread>', 'the id (th_…) or title of a thread')
    .addOption(yesOption())
    .addHelpText('after', example('gateway threads delete th_01jd… --yes'))
    .action(async (given, { yes }) => {
      const client = context.client();
      const id = await resolveThread(context, given);
      const name = asGiven(given, id);
      const find = () => client.call(getThread, { params: { id } });
      await confirm(context, `Delete ${name} and all its messages? This cannot be undone.`, { yes, find });
      const deleted = await client.call(deleteThread, { params: { id } });
      return context.out.done(deleted, `Deleted ${name}.`);
    });

export const stopThreadCommand = (context: Context) =>
  new Command('stop')
    .argument('<thread>', 'the id (th_…) or title of a thread')
    .addHelpText('after', example('gateway threads stop th_01jd…'))
    .action(async (given) => {
      const id = await resolveThread(context, given);
      const params = { id };
      const { thread: before } = await context.client().call(getThread, { params });
      const { thread } = await context.client().call(stopThread, { params });
      return context.out.done(
        thread,
        before.working ? `Stopped the call in ${id}.` : `No call is running in ${id}.`,
      );
    });

export const watchThreadCommand = (context: Context) =>
  new Command('watch')
    .argument('<thread>', 'the id (th_…) or title of a thread')
    .option('--after <sequence>', 'only events after this one', wholeNumber({ min: 0 }))
    .option('--once', 'stop after the first finished run')
    .addHelpText('after', example('gateway threads watch th_01jd… --json'))
    .action(async (given, options) =>
      watch(context, { id: await resolveThread(context, given), ...options }),
    );

interface WatchFlags {
  id: string;
  after?: number | undefined;
  once?: boolean | undefined;
}

/** Follows a thread until it is deleted or Ctrl-C is pressed, reconnecting when the connection is lost. */
async function watch(context: Context, { id, after, once }: WatchFlags): Promise<void> {
  const done = new AbortController();
  await follow(context, {
    until: done.signal,
    open: (lastId, options) =>
      context.client().stream(
        followThread,
        {
          params: { id },
          query: { after: lastId === undefined ? after : undefined },
          headers: { 'last-event-id': lastId },
        },
        options,
      ),
    async show({ data }) {
      const event = JSON.parse(data) as ThreadEvent;
      await show(context, event);
      if (once && /^run_(completed|failed|cancelled)$/.test(event.type)) done.abort();
    },
  });
  if (!done.signal.aborted) context.exit = exitCodes.interrupted;
}

async function show(context: Context, event: ThreadEvent): Promise<void> {
  if (context.out.wantsJson()) return context.out.element(event);
  const { created_at: at, type, run, data } = event;
  const { isTty } = context.io.stdout;
  const cells = [isTty ? clockTime(at) : at, type, run ?? '', detailOf(data)].map(tabSeparatedCell);
  const line = cells.join('\t');
  context.out.text(`${isTty ? line.trimEnd() : line}\n`);
}

function detailOf({ error, provider, model, messages }: ThreadEvent['data']): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message);
  if (typeof provider === 'string') return `${provider} ${model}`;
  if (typeof model === 'string') return model;
  return Array.isArray(messages) ? `${messages.length} messages` : '';
}

/** A thread; `now` in milliseconds since 1970. */
export const threadColumns = (now: number): Column<Thread>[] => [
  { title: 'id', value: (thread) => thread.id },
  { title: 'title', value: (thread) => thread.title },
  {
    title: 'working',
    value: (thread) => thread.working,
    style: (thread) => (thread.working ? 'yellow' : 'dim'),
  },
  {
    title: 'created_at',
    value: (thread) => thread.created_at,
    show: (thread) => ago(thread.created_at, now),
    isSpare: true,
  },
  {
    title: 'updated_at',
    value: (thread) => thread.updated_at,
    show: (thread) => ago(thread.updated_at, now),
  },
];
