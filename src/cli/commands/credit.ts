import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import type { CreditAccount, CreditGrant } from '../../shared/contract/credit.ts';
import type { KeyView } from '../../shared/contract/keys.ts';
import { getKey, grantCredit, listCredit } from '../../shared/endpoints.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { dollars } from '../../view/money.ts';
import type { Context } from '../context.ts';
import { resolveAnyWorkspace } from '../names/resolve.ts';
import { example } from '../options.ts';
import type { Column } from '../output/table.ts';

export const showCreditCommand = (context: Context) =>
  new Command('show')
    .argument('[workspace]', 'the id, slug or name of a workspace (default: all workspaces you can see)')
    .addHelpText('after', example('gateway credit show laboratory --json=balance_usd'))
    .action((workspace) => showCredit(context, workspace));

/** Admins of the host see every workspace, other users their own. */
async function showCredit(context: Context, workspace: string | undefined): Promise<void> {
  try {
    const wanted = workspace === undefined ? undefined : await resolveAnyWorkspace(context, workspace);
    const { data } = await context.client().call(listCredit, { query: { workspace: wanted } });
    await context.out.table(data, accountColumns, { empty: 'No workspaces yet.' });
  } catch (error) {
    const isNotHost = error instanceof ReceivedError && ['signed_out', 'permission'].includes(error.code);
    if (!isNotHost || workspace !== undefined) throw error;
    await context.out.record(await context.client().call(getKey, {}), ownColumns);
  }
}

const notPrepaid = 'not prepaid';

const accountColumns: Column<CreditAccount>[] = [
  { title: 'workspace', value: (account) => account.workspace },
  { title: 'name', value: (account) => account.slug },
  {
    title: 'balance_usd',
    value: (account) => account.balance_usd,
    show: ({ balance_usd: balance }) => (balance === null ? notPrepaid : dollars(balance)),
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
    show: ({ balance_usd: balance }) => (balance === null ? notPrepaid : dollars(balance)),
  },
  { title: 'spent_usd', value: (key) => key.spend_usd.total, show: (key) => dollars(key.spend_usd.total) },
];

export const grantCreditCommand = (context: Context) =>
  new Command('grant')
    .argument('<workspace>', 'the id, slug or name of the workspace')
    .argument('<usd>', 'the amount in dollars', usdAmount)
    .option('--note <text>', 'a note about the grant')
    .option('--reference <name>', 'an id of your own that makes retries safe: one grant per reference')
    .addHelpText('after', example('gateway credit grant laboratory 20 --reference invoice-17'))
    .action(async (given, usd, { note, reference }) => {
      const workspace = await resolveAnyWorkspace(context, given);
      const body = { workspace, usd, note: note ?? null, reference: reference ?? null };
      await context.out.record(await context.client().call(grantCredit, { body }), grantColumns);
    });

const grantColumns: Column<CreditGrant>[] = [
  { title: 'id', value: (grant) => grant.id },
  { title: 'workspace', value: (grant) => grant.workspace },
  { title: 'granted_usd', value: (grant) => grant.usd, show: (grant) => dollars(grant.usd) },
  {
    title: 'balance_usd',
    value: (grant) => grant.balance_usd,
    show: (grant) => (grant.balance_usd === null ? notPrepaid : dollars(grant.balance_usd)),
  },
  { title: 'note', value: (grant) => grant.note },
  { title: 'reference', value: (grant) => grant.reference },
];

/** A parser for options in dollars. */
export function usdAmount(text: string): string {
  const usd = text.replace(/^\$/, '');
  if (/^\d{1,7}(\.\d{1,9})?$/.test(usd) && Number(usd) > 0) return usd;
  throw new InvalidArgumentError('It must be more than 0 and at most 1000000 dollars, like 20 or 0.5.');
}
