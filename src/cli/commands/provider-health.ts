import { Command } from '@commander-js/extra-typings';
import type { ProviderHealth } from '../../shared/contract/provider-health.ts';
import { getProvidersHealth } from '../../shared/endpoints.ts';
import { ago, duration } from '../../view/durations.ts';
import { count, percent } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { csvOption, delimiterOption, example } from '../options.ts';
import type { Column } from '../output/table.ts';
import { pastTime, pastTimeHelp } from '../times.ts';

export const providerHealthCommand = (context: Context) =>
  new Command('health')
    .option('--since <time>', `calls that finished since then: ${pastTimeHelp}`, pastTime(context))
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example('gateway providers health --since 7d'))
    .action(async ({ since }) => {
      const query = since === undefined ? {} : { since };
      const { data } = await context.client().call(getProvidersHealth, { query });
      await context.out.table(data, columns(context.now()), { empty: 'No provider was asked.' });
    });

const columns = (now: number): Column<ProviderHealth>[] => [
  { title: 'provider', value: ({ provider }) => provider },
  { title: 'model', value: ({ model }) => model },
  {
    title: 'attempts',
    value: ({ attempts }) => attempts,
    show: ({ attempts }) => count(attempts),
    align: 'right',
  },
  {
    title: 'share_ok',
    label: 'ok',
    value: ({ share_ok }) => share_ok,
    show: ({ share_ok: share }) => (share === null ? '–' : percent(share)),
    style: ({ share_ok: share }) => (share !== null && share < 0.95 ? 'red' : undefined),
    align: 'right',
  },
  firstByte('p50'),
  firstByte('p95'),
  {
    title: 'is_benched',
    label: 'benched',
    value: ({ is_benched }) => is_benched,
    show: ({ is_benched: isBenched, benched }) => (isBenched ? (benched.at(-1)?.reason ?? 'yes') : '–'),
    isSpare: true,
  },
  {
    title: 'last_failure',
    label: 'last failure',
    value: ({ last_failure }) => last_failure?.at,
    show: ({ last_failure: last }) => (last ? `${last.error_code}, ${ago(last.at, now)}` : '–'),
    isSpare: true,
  },
  { title: 'message', value: ({ last_failure }) => last_failure?.message, isSpare: true },
];

function firstByte(name: 'p50' | 'p95'): Column<ProviderHealth> {
  return {
    title: `first_byte_${name}_ms`,
    label: `first byte ${name}`,
    value: ({ first_byte_ms }) => first_byte_ms[name],
    show: ({ first_byte_ms }) => duration(first_byte_ms[name]),
    align: 'right',
    isSpare: true,
  };
}
