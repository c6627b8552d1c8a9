import { Command } from '@commander-js/extra-typings';
import type { Chat, Run } from '../../shared/contract/chats.ts';
import { listChats, listRuns } from '../../shared/endpoints.ts';
import { ago } from '../../view/durations.ts';
import { dollars } from '../../view/money.ts';
import type { Context } from '../context.ts';
import { resolveThread } from '../names/resolve.ts';
import { example, wholeNumber } from '../options.ts';
import type { Style } from '../output/style.ts';
import type { Column } from '../output/table.ts';

export const listChatsCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1, max: 200 }), 50)
    .addHelpText('after', example('gateway chats list'))
    .action(async ({ limit }) => {
      const { data } = await context.client().call(listChats, { query: { limit } });
      await context.out.table(data, chatColumns(context.now()), { empty: 'No chats.' });
    });

const chatColumns = (now: number): Column<Chat>[] => [
  { title: 'id', value: (chat) => chat.id },
  { title: 'title', value: (chat) => chat.title },
  { title: 'working', value: (chat) => chat.working },
  { title: 'updated_at', value: (chat) => chat.updatedAt, show: (chat) => ago(chat.updatedAt, now) },
];

export const listRunsCommand = (context: Context) =>
  new Command('runs')
    .argument('<chat>', 'the id (th_…) or title of a chat')
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1, max: 500 }), 100)
    .addHelpText('after', example('gateway chats runs th_01jd… --json=id,status,model'))
    .action(async (given, { limit }) => {
      const conversationId = await resolveThread(context, given);
      const { data } = await context
        .client()
        .call(listRuns, { params: { conversationId }, query: { limit } });
      await context.out.table(data, runColumns(context.now()), { empty: 'No runs.' });
    });

const statusStyles: Partial<Record<string, Style>> = {
  completed: 'green',
  failed: 'red',
  missed: 'yellow',
  skipped: 'yellow',
};

/** A run, or what a schedule did not run. */
type ListedRun = Pick<Run, 'id' | 'model' | 'provider' | 'usage' | 'error' | 'startedAt'> & {
  status: string;
};

export const runColumns = (now: number): Column<ListedRun>[] => [
  { title: 'id', value: (run) => run.id },
  { title: 'status', value: (run) => run.status, style: ({ status }) => statusStyles[status] ?? 'dim' },
  { title: 'model', value: (run) => run.model },
  { title: 'provider', value: (run) => run.provider },
  { title: 'tokens', value: (run) => run.usage?.totalTokens ?? null, isSpare: true },
  {
    title: 'charged_usd',
    value: (run) => run.usage?.chargedUsd ?? null,
    show: ({ usage }) => (usage === null ? '–' : dollars(usage.chargedUsd)),
  },
  { title: 'error', value: (run) => run.error?.code ?? null, isSpare: true },
  { title: 'started_at', value: (run) => run.startedAt, show: (run) => ago(run.startedAt, now) },
];
