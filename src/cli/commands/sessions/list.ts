import { Command } from '@commander-js/extra-typings';
import type { Session } from '../../../shared/contract/people.ts';
import { listSessions } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { collectPages } from '../collect-pages.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';

export const listSessionsCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'at most so many, oldest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway sessions list'))
    .action(async ({ limit }) => {
      const found = await collectPages(limit, (page) => context.client().call(listSessions, { query: page }));
      await context.out.table(found, columns(context.now()), { empty: 'No logins.' });
    });

const columns = (now: number): Column<Session>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name },
  {
    title: 'current',
    value: (session) => session.is_current,
    show: (session) => (session.is_current ? 'yes' : ''),
  },
  {
    title: 'created',
    value: (session) => session.created_at,
    show: (session) => ago(session.created_at, now),
  },
];
