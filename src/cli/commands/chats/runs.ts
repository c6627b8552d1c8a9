import { Command } from '@commander-js/extra-typings';
import type { Run } from '../../../shared/contract/chats.ts';
import { listRuns } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { dollars } from '../../output/amount.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';

export const listRunsCommand = (context: Context) =>
  new Command('runs')
    .argument('<id>', 'the id of the chat, th_…')
    .option('--limit <count>', 'at most so many, newest first', wholeNumber({ min: 1, max: 500 }), 100)
    .addHelpText('after', example('gateway chats runs th_01jd… --json id,status,model'))
    .action(async (conversationId, { limit }) => {
      const { data } = await context
        .client()
        .call(listRuns, { params: { conversationId }, query: { limit } });
      await context.out.table(data, columns(context.now()), { empty: 'No runs.' });
    });

const columns = (now: number): Column<Run>[] => [
  { title: 'id', value: (run) => run.id },
  {
    title: 'status',
    value: (run) => run.status,
    style: (run) => (run.status === 'failed' ? 'red' : run.status === 'completed' ? 'green' : 'dim'),
  },
  { title: 'model', value: (run) => run.model },
  { title: 'provider', value: (run) => run.provider },
  { title: 'tokens', value: (run) => run.usage?.totalTokens ?? null, isSpare: true },
  {
    title: 'charged_usd',
    value: (run) => run.usage?.chargedUsd ?? null,
    show: (run) => dollars(run.usage?.chargedUsd ?? null),
  },
  { title: 'error', value: (run) => run.error?.code ?? null, isSpare: true },
  { title: 'started_at', value: (run) => run.startedAt, show: (run) => ago(run.startedAt, now) },
];
