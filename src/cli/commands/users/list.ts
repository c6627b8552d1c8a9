import { Command } from '@commander-js/extra-typings';
import type { User } from '../../../shared/contract/people.ts';
import { listUsers } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { collectPages } from '../collect-pages.ts';
import { example } from '../example.ts';
import { wholeNumber } from '../number-option.ts';

export const listUsersCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'at most so many, oldest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway users list --json=handle,name'))
    .action(async ({ limit }) => {
      const users = await collectPages(limit, (page) => context.client().call(listUsers, { query: page }));
      await context.out.table(users, columns(context.now()), { empty: 'No users.' });
    });

const columns = (now: number): Column<User>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'handle', value: ({ handle }) => handle },
  { title: 'name', value: ({ name }) => name },
  {
    title: 'created',
    value: (user) => user.created_at,
    show: (user) => ago(user.created_at, now),
    isSpare: true,
  },
];
