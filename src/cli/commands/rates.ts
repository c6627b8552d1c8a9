import { Command } from '@commander-js/extra-typings';
import type { Rate, RateRow } from '../../shared/contract/rates.ts';
import { listRates } from '../../shared/endpoints.ts';
import { dollars } from '../../view/money.ts';
import { points } from '../../view/numbers.ts';
import type { Context } from '../context.ts';
import { csvOption, delimiterOption, example } from '../options.ts';
import type { Column } from '../output/table.ts';

export const ratesCommand = (context: Context) =>
  new Command('rates')
    .option('--match <text>', 'only models whose id contains this text')
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example('gateway rates --match claude'))
    .action(({ match = '' }) => showRates(context, match));

async function showRates(context: Context, match: string): Promise<void> {
  const card = await context.client().call(listRates, {});
  const rows = card.data.filter((row) => row.model.toLowerCase().includes(match.toLowerCase()));
  await context.out.table(rows, columns, { empty: 'No rates.' });
  if (!context.io.stdout.isTty || context.out.wantsJson()) return;
  context.out.note(`${card.unit}, including a margin of ${points(card.margin_percent)}.`);
}

const columns: Column<RateRow>[] = [
  { title: 'model', value: (row) => row.model },
  { title: 'provider', value: (row) => row.provider },
  rateColumn('input_usd', (row) => row.input),
  { ...rateColumn('cached_usd', (row) => row.cached_input), isSpare: true },
  { ...rateColumn('cache_write_usd', (row) => row.cache_write), isSpare: true },
  rateColumn('output_usd', (row) => row.output),
];

function rateColumn(title: string, rateOf: (row: RateRow) => Rate | null): Column<RateRow> {
  return {
    title,
    value: (row) => rateOf(row)?.total_usd,
    show: (row) => dollars(rateOf(row)?.total_usd),
    align: 'right',
  };
}
