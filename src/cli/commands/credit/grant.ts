import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import type { CreditGrant } from '../../../shared/contract/credit.ts';
import { grantCredit } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { dollars } from '../../output/amount.ts';
import type { Column } from '../../output/table.ts';
import { example } from '../example.ts';

export const grantCreditCommand = (context: Context) =>
  new Command('grant')
    .argument('<workspace>', 'the id or slug of the workspace')
    .argument('<usd>', 'how many dollars', amount)
    .option('--note <text>', 'what it is for')
    .option('--reference <name>', 'your own name of the grant: it is made once, however often it is sent')
    .addHelpText('after', example('gateway credit grant laboratory 20 --reference invoice-17'))
    .action(async (workspace, usd, { note, reference }) => {
      const body = { workspace, usd, note: note ?? null, reference: reference ?? null };
      await context.out.record(await context.client().call(grantCredit, { body }), columns);
    });

const columns: Column<CreditGrant>[] = [
  { title: 'id', value: (grant) => grant.id },
  { title: 'workspace', value: (grant) => grant.workspace },
  { title: 'granted_usd', value: (grant) => grant.usd, show: (grant) => dollars(grant.usd) },
  {
    title: 'balance_usd',
    value: (grant) => grant.balance_usd,
    show: (grant) => (grant.balance_usd === null ? 'pays afterwards' : dollars(grant.balance_usd)),
  },
  { title: 'note', value: (grant) => grant.note },
  { title: 'reference', value: (grant) => grant.reference },
];

function amount(text: string): string {
  const usd = text.replace(/^\$/, '');
  if (/^\d{1,7}(\.\d{1,9})?$/.test(usd) && Number(usd) > 0) return usd;
  throw new InvalidArgumentError('It must be dollars above 0 and at most 1000000, like 20 or 0.5.');
}
