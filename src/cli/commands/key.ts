import { Command } from '@commander-js/extra-typings';
import type { KeyView } from '../../shared/contract/keys.ts';
import { getKey } from '../addresses.ts';
import type { Context } from '../context.ts';
import { dollars } from '../output/amount.ts';
import type { Column } from '../output/table.ts';
import { ago } from '../output/time.ts';
import { example } from './example.ts';
import { limitsText } from './keys/limits-text.ts';

export const keyCommand = (context: Context) =>
  new Command('key')
    .addHelpText('after', example('GATEWAY_KEY=$(gateway keys default) gateway key'))
    .action(async () => {
      await context.out.record(await context.client().call(getKey, {}), columns(context.now()));
    });

const columns = (now: number): Column<KeyView>[] => [
  { title: 'id', value: (key) => key.id },
  { title: 'name', value: (key) => key.name },
  { title: 'workspace', value: (key) => key.workspace },
  { title: 'scopes', value: (key) => key.scopes.join(' ') },
  { title: 'balance_usd', value: (key) => key.balance_usd, show: (key) => balance(key) },
  { title: 'spend_day_usd', value: (key) => key.spend_usd.day, show: (key) => dollars(key.spend_usd.day) },
  {
    title: 'spend_month_usd',
    value: (key) => key.spend_usd.month,
    show: (key) => dollars(key.spend_usd.month),
  },
  {
    title: 'spend_total_usd',
    value: (key) => key.spend_usd.total,
    show: (key) => dollars(key.spend_usd.total),
  },
  {
    title: 'limits',
    value: (key) => limitsText(key.limits),
    show: (key) => limitsText(key.limits) || 'none',
  },
  { title: 'created_at', value: (key) => key.created_at, show: (key) => ago(key.created_at, now) },
  { title: 'last_used_at', value: (key) => key.last_used_at, show: (key) => ago(key.last_used_at, now) },
];

function balance(key: KeyView): string {
  return key.balance_usd === null ? 'not prepaid' : dollars(key.balance_usd);
}
