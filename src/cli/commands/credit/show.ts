import { Command } from '@commander-js/extra-typings';
import type { CreditAccount } from '../../../shared/contract/credit.ts';
import type { KeyView } from '../../../shared/contract/keys.ts';
import { ReceivedError } from '../../../shared/received-error.ts';
import { getKey, listCredit } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { dollars } from '../../output/amount.ts';
import type { Column } from '../../output/table.ts';
import { example } from '../example.ts';

export const showCreditCommand = (context: Context) =>
  new Command('show')
    .argument('[workspace]', 'the id or slug of a workspace; without it, all that you may see')
    .addHelpText('after', example('gateway credit show laboratory --json=balance_usd'))
    .action((workspace) => showCredit(context, workspace));

/** Whoever runs the host sees every workspace, everybody else their own. */
async function showCredit(context: Context, workspace: string | undefined): Promise<void> {
  try {
    const { data } = await context.client().call(listCredit, { query: { workspace } });
    await context.out.table(data, columns, { empty: 'No workspaces yet.' });
  } catch (error) {
    const isNotHost = error instanceof ReceivedError && ['signed_out', 'permission'].includes(error.code);
    if (!isNotHost || workspace !== undefined) throw error;
    await context.out.record(await context.client().call(getKey, {}), ownColumns);
  }
}

const afterwards = 'pays afterwards';

const columns: Column<CreditAccount>[] = [
  { title: 'workspace', value: (account) => account.workspace },
  { title: 'name', value: (account) => account.slug },
  {
    title: 'balance_usd',
    value: (account) => account.balance_usd,
    show: ({ balance_usd: balance }) => (balance === null ? afterwards : dollars(balance)),
    style: ({ balance_usd: balance }) => (balance !== null && Number(balance) <= 0 ? 'yellow' : undefined),
    align: 'right',
  },
  usd('spent_usd', (account) => account.spent_usd),
  usd('granted_usd', (account) => account.granted_usd),
  { ...usd('held_usd', (account) => account.held_usd), isSpare: true },
];

function usd(title: string, value: (account: CreditAccount) => string): Column<CreditAccount> {
  return { title, value, show: (account) => dollars(value(account)), align: 'right' };
}

const ownColumns: Column<KeyView>[] = [
  { title: 'workspace', value: (key) => key.workspace },
  {
    title: 'balance_usd',
    value: (key) => key.balance_usd,
    show: ({ balance_usd: balance }) => (balance === null ? afterwards : dollars(balance)),
  },
  {
    title: 'spent_usd',
    value: (key) => key.spend_usd.total,
    show: (key) => dollars(key.spend_usd.total),
  },
];
