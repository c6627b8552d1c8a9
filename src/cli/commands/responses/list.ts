import { Command } from '@commander-js/extra-typings';
import type { ListedResponse } from '../../../shared/contract/stored-responses.ts';
import { listResponses } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { collectPages } from '../collect-pages.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';

export const listResponsesCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'at most so many, newest first', wholeNumber({ min: 1 }), 20)
    .addHelpText('after', example('gateway responses list --json id,status'))
    .action(async ({ limit }) => {
      const rows = await collectPages(limit, (page) => context.client().call(listResponses, { query: page }));
      await context.out.table(rows, columns(context.now()), { empty: 'No stored responses.' });
    });

const created = (row: ListedResponse) => new Date(row.created_at * 1000).toISOString();

const columns = (now: number): Column<ListedResponse>[] => [
  { title: 'id', value: (row) => row.id },
  {
    title: 'status',
    value: (row) => row.status,
    style: (row) => (row.status === 'failed' ? 'red' : row.status === 'completed' ? 'green' : 'dim'),
  },
  { title: 'model', value: (row) => row.model },
  { title: 'background', value: (row) => row.background, isSpare: true },
  { title: 'created', value: created, show: (row) => ago(created(row), now) },
];
