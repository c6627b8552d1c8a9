import { Command, Option } from '@commander-js/extra-typings';
import type { Client } from '../../shared/client.ts';
import type { Query, Result } from '../../shared/contract/endpoint.ts';
import type {
  listUsage as listUsageContract,
  ServedDayView,
  UsageGroup,
  UsageView,
} from '../../shared/contract/usage.ts';
import type { Context } from '../context.ts';
import { getUsage, listUsage, tokensServed } from '../endpoints.ts';
import { type KeyNames, keyNamesFor, keyText } from '../names/key-names.ts';
import { resolveFilter } from '../names/resolve.ts';
import { checkNoFilter, csvOption, example } from '../options.ts';
import { count, dollars } from '../output/amount.ts';
import type { Column } from '../output/table.ts';
import { ago, duration } from '../output/time.ts';
import { pastTime, pastTimeHelp } from '../times.ts';

export const usageCommand = (context: Context) =>
  new Command('show')
    .argument('[request]', 'the id of a request: req_… (default: totals)')
    .addOption(
      new Option('--group-by <what>', 'how to group the totals')
        .choices(['day', 'model', 'key'] as const)
        .default('day'),
    )
    .option('--key <key>', 'only calls with this key, by id or name')
    .option('--model <model>', 'only calls to this model')
    .option('--since <time>', `since then: ${pastTimeHelp}`, pastTime(context))
    .option('--until <time>', 'before this time or through this UTC day', pastTime(context))
    .addOption(csvOption())
    .addHelpText('after', example('gateway usage --group-by model --since 7d'))
    .action(async (request, { groupBy, key, model, since, until }) => {
      const filter = { key, model, since, until };
      if (request === undefined)
        return showSums(context, { ...(await resolveFilter(context, filter)), group_by: groupBy });
      checkNoFilter(request, filter);
      return showRequest(context, request);
    });

export const tokensServedCommand = (context: Context) =>
  new Command('tokens-served')
    .addOption(csvOption())
    .addHelpText('after', example('gateway usage tokens-served --json=date,tokens'))
    .action(async () => {
      const { total, days } = await context.client().call(tokensServed, {});
      await context.out.table(days, servedColumns, { empty: 'No tokens were served yet.' });
      if (!context.io.stdout.isTty || context.out.wantsJson() || days.length === 0) return;
      context.out.note(`${count(total.tokens)} tokens in ${count(total.requests)} requests in total.`);
    });

const servedColumns: Column<ServedDayView>[] = [
  { title: 'date', value: (day) => day.date },
  servedColumn('requests', (day) => day.requests),
  servedColumn('tokens', (day) => day.tokens),
  servedColumn('input', (day) => day.input),
  servedColumn('output', (day) => day.output),
  servedColumn('paid', (day) => day.by_price_tier.paid),
  servedColumn('free', (day) => day.by_price_tier.free),
];

function servedColumn(title: string, value: (day: ServedDayView) => number): Column<ServedDayView> {
  return { title, value, show: (day) => count(value(day)), align: 'right' };
}

async function showRequest(context: Context, requestId: string): Promise<void> {
  const usage = await context.client().call(getUsage, { params: { request_id: requestId } });
  await context.out.record(usage, usageColumns(context.now(), await keyNamesFor(context)));
}

async function showSums(context: Context, query: Query<typeof listUsageContract>): Promise<void> {
  const sums = await sumUsage(context.client(), query);
  const names = sums.group_by === 'key' ? await keyNamesFor(context) : undefined;
  const columns = groupColumns(sums.group_by, names);
  // A spreadsheet has no other way to find the names.
  if (names && context.flags.csv) columns.splice(1, 0, nameColumn(names));
  await context.out.table(sums.data, columns, { empty: 'No calls in this period.' });
  if (!context.io.stdout.isTty || context.out.wantsJson()) return;
  const { total } = sums;
  if (total.requests === 0) return;
  const requests = total.requests === 1 ? '1 request' : `${count(total.requests)} requests`;
  context.out.note(`${requests}, charged ${dollars(total.charged_usd)} in total.`);
  if (total.unpriced_requests > 0) {
    context.out.note(
      `${total.unpriced_requests} of them have no known price and are not included in the amounts.`,
    );
  }
}

/** The totals of all pages. */
export async function sumUsage(
  client: Client,
  query: Query<typeof listUsageContract>,
): Promise<Result<typeof listUsageContract>> {
  const sums = await client.call(listUsage, { query });
  let { next } = sums;
  while (next) {
    const page = await client.call(listUsage, { query: { ...query, after: next } });
    sums.data.push(...page.data);
    next = page.next;
  }
  // Days are in order; of models and keys, the dearest come first.
  if (query.group_by === 'model' || query.group_by === 'key') sums.data.sort(dearestFirst);
  return { ...sums, has_more: false, next: null };
}

function dearestFirst(one: UsageGroup, other: UsageGroup): number {
  const charged = Number(other.charged_usd) - Number(one.charged_usd);
  const cost = Number(other.cost.total_usd) - Number(one.cost.total_usd);
  return charged || cost || other.requests - one.requests;
}

/** One finished request; `now` in milliseconds since 1970. */
const usageColumns = (now: number, names: KeyNames): Column<UsageView>[] => [
  { title: 'request_id', value: (usage) => usage.request_id },
  { title: 'response_id', value: (usage) => usage.response_id },
  {
    title: 'status',
    value: (usage) => usage.status,
    style: (usage) => (usage.status === 'completed' ? 'green' : 'yellow'),
  },
  { title: 'endpoint', value: (usage) => usage.endpoint },
  { title: 'model', value: (usage) => usage.model },
  { title: 'provider', value: (usage) => usage.provider },
  { title: 'attempts', value: (usage) => attemptsText(usage) },
  { title: 'key', value: (usage) => usage.key, show: (usage) => keyText(usage.key, names) },
  { title: 'input', value: (usage) => usage.tokens.input, show: ({ tokens }) => count(tokens.input) },
  {
    title: 'cached_input',
    value: (usage) => usage.tokens.cached_input,
    show: ({ tokens }) => count(tokens.cached_input),
  },
  { title: 'output', value: (usage) => usage.tokens.output, show: ({ tokens }) => count(tokens.output) },
  {
    title: 'reasoning',
    value: (usage) => usage.tokens.reasoning,
    show: ({ tokens }) => count(tokens.reasoning),
  },
  {
    title: 'cost_usd',
    value: (usage) => usage.cost?.total_usd,
    show: ({ cost }) => dollars(cost?.total_usd),
  },
  { title: 'charged_usd', value: (usage) => usage.charged_usd, show: (usage) => dollars(usage.charged_usd) },
  {
    title: 'ttft_ms',
    label: 'first token',
    value: (usage) => usage.ttft_ms,
    show: ({ ttft_ms }) => (ttft_ms === null ? '–' : duration(ttft_ms)),
  },
  { title: 'total_ms', value: (usage) => usage.total_ms, show: (usage) => duration(usage.total_ms) },
  { title: 'created_at', value: (usage) => usage.created_at, show: (usage) => ago(usage.created_at, now) },
];

/** Totals by day, model or key. */
export const groupColumns = (
  groupBy: 'day' | 'model' | 'key',
  names: KeyNames = new Map(),
): Column<UsageGroup>[] => [
  {
    title: groupBy,
    value: ({ group }) => group,
    show: ({ group }) => (groupBy === 'key' ? keyText(group, names) : (group ?? '–')),
  },
  number('requests', (group) => group.requests),
  { ...number('input', (group) => group.tokens.input), isSpare: true },
  { ...number('cached_input', (group) => group.tokens.cached_input), isSpare: true },
  { ...number('output', (group) => group.tokens.output), isSpare: true },
  { ...amount('cost_usd', (group) => group.cost.total_usd), isSpare: true },
  amount('charged_usd', (group) => group.charged_usd),
];

const nameColumn = (names: KeyNames): Column<UsageGroup> => ({
  title: 'name',
  value: ({ group }) => keyText(group, names),
});

function attemptsText({ attempts }: UsageView): string {
  return attempts.map(({ provider, status, error_code }) => `${provider} ${error_code ?? status}`).join(', ');
}

function number(title: string, value: (group: UsageGroup) => number): Column<UsageGroup> {
  return { title, value, show: (group) => count(value(group)), align: 'right' };
}

function amount(title: string, value: (group: UsageGroup) => string): Column<UsageGroup> {
  return { title, value, show: (group) => dollars(value(group)), align: 'right' };
}
