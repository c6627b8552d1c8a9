import { Command, Option } from '@commander-js/extra-typings';
import type { Query } from '../../shared/contract/endpoint.ts';
import type { listUsage as listUsageContract } from '../../shared/contract/usage.ts';
import { getUsage, listUsage } from '../addresses.ts';
import type { Context } from '../context.ts';
import { count, dollars } from '../output/amount.ts';
import { example } from './example.ts';
import { checkNoFilter } from './one-or-many.ts';
import { timeBound } from './time-option.ts';
import { groupColumns, usageColumns } from './usage-columns.ts';

export const usageCommand = (context: Context) =>
  new Command('usage')
    .argument('[request]', 'the id of a request, req_…; without it, sums')
    .addOption(
      new Option('--group-by <what>', 'what each sum is of')
        .choices(['day', 'model', 'key'] as const)
        .default('day'),
    )
    .option('--key <key>', 'only calls of this key')
    .option('--model <model>', 'only calls that this model answered')
    .option('--since <time>', 'from this UTC day or time on, like 2026-11-01', timeBound)
    .option('--until <time>', 'before this UTC day or time', timeBound)
    .addHelpText('after', example('gateway usage --group-by model --since 2026-11-01'))
    .action((request, { groupBy, key, model, since, until }) => {
      const filter = { key, model, since, until };
      if (request === undefined) return showSums(context, { ...filter, group_by: groupBy });
      checkNoFilter(request, filter);
      return showRequest(context, request);
    });

async function showRequest(context: Context, requestId: string): Promise<void> {
  const usage = await context.client().call(getUsage, { params: { request_id: requestId } });
  await context.out.record(usage, usageColumns(context.now()));
}

async function showSums(context: Context, query: Query<typeof listUsageContract>): Promise<void> {
  const sums = await context.client().call(listUsage, { query });
  await context.out.table(sums.data, groupColumns(sums.group_by), { empty: 'No calls in this time.' });
  if (!context.io.stdout.isTty || context.out.wantsJson()) return;
  const { total } = sums;
  if (total.requests === 0) return;
  const requests = total.requests === 1 ? '1 request' : `${count(total.requests)} requests`;
  context.out.note(`${requests}, charged ${dollars(total.charged_usd)} in all.`);
  if (total.unpriced_requests > 0) {
    context.out.note(`${total.unpriced_requests} of them have no known price and are in no amount.`);
  }
}
