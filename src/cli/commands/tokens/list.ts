import { Command } from '@commander-js/extra-typings';
import type { AccessToken } from '../../../shared/contract/tokens.ts';
import type { Context } from '../../context.ts';
import type { Column } from '../../output/table.ts';
import { ago } from '../../output/time.ts';
import { listTokens } from '../../site-addresses.ts';
import { example } from '../example.ts';

export const listTokensCommand = (context: Context) =>
  new Command('list').addHelpText('after', example('gateway tokens list --json=id,name')).action(async () => {
    const { data } = await context.client().call(listTokens, {});
    await context.out.table(data, columns(context.now()), { empty: 'No access tokens.' });
  });

const columns = (now: number): Column<AccessToken>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name },
  { title: 'abilities', value: ({ abilities }) => abilities.join(' ') },
  {
    title: 'expires',
    value: ({ expiresAt }) => expiresAt,
    show: ({ expiresAt }) => (expiresAt === null ? 'never' : ago(expiresAt, now)),
  },
  {
    title: 'last_used',
    value: ({ lastUsedAt }) => lastUsedAt,
    show: ({ lastUsedAt }) => ago(lastUsedAt, now),
  },
  {
    title: 'current',
    value: ({ isCurrent }) => isCurrent,
    show: ({ isCurrent }) => (isCurrent ? 'yes' : ''),
    isSpare: true,
  },
];
