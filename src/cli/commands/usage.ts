import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Client } from '../../shared/client.ts';
import type { Query, Result } from '../../shared/contract/endpoint.ts';
import type {
  Distribution,
  getUsageLatency as getUsageLatencyContract,
  LatencySeries,
  listUsage as listUsageContract,
  ServedDayView,
  UsageGroup,
  UsageSeries,
  UsageView,
} from '../../shared/contract/usage.ts';
import {
  getUsage,
  getUsageLatency,
  getUsageSeries,
  listUsage,
  tokensServed,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { localDay } from '../../shared/time/time-zones.ts';
import { ago, duration } from '../../view/durations.ts';
import { type KeyNames, keyText } from '../../view/key-names.ts';
import { dollars } from '../../view/money.ts';
import { count } from '../../view/numbers.ts';
import { allCalls, figuresOf, usageFields } from '../../view/usage.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { keyNamesFor } from '../names/key-names.ts';
import { resolveFilter } from '../names/resolve.ts';
import { checkNoFilter, csvOption, delimiterOption, example, wholeNumber } from '../options.ts';
import { recordColumn } from '../output/field-columns.ts';
import type { Column } from '../output/table.ts';
import { dayInZone, pastTime, pastTimeHelp, pastTimeInZone, zoneOption } from '../times.ts';

export const usageCommand = (context: Context) =>
  new Command('show')
    .argument('[call]', 'the id of a call: req_… (default: totals)')
    .option(
      '--group-by <what>',
      `how to group the totals: one or two of ${usageGroups.join(', ')}`,
      groupings,
      'day',
    )
    .option('--key <key>', 'only calls with this key, by id or name')
    .option('--model <model>', 'only calls to this model')
    .option(...zoneOption)
    .option('--since <time>', `only calls since then: ${pastTimeHelp}`, pastTimeInZone(context))
    .option('--until <time>', 'only calls before this time or through this UTC day', pastTimeInZone(context))
    .option(
      '--latency',
      'show percentiles of the time to the first token and in all, by day, model or provider',
    )
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example('gateway usage show --group-by day,model --tz local'))
    .action(async (request, { groupBy, key, model, tz, latency, ...times }) => {
      const { since, until } = rangeInZone(times, tz, context);
      const filter = { key, model, since, until };
      if (latency) {
        if (request !== undefined || key !== undefined)
          throw new CliError('Latency is not known by call or key.', { exit: exitCodes.usage });
        return showLatency(context, { model, since, until, tz, groupBy });
      }
      if (request === undefined)
        return showSums(context, { ...(await resolveFilter(context, filter)), tz, group_by: groupBy });
      checkNoFilter(request, filter);
      return showRequest(context, request);
    });

export const tokensServedCommand = (context: Context) =>
  new Command('tokens-served')
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example('gateway usage tokens-served --json=date,tokens'))
    .action(async () => {
      const { total, days } = await context.client().call(tokensServed, {});
      await context.out.table(days, servedColumns, { empty: 'No tokens were served yet.' });
      if (!context.io.stdout.isTty || context.out.wantsJson() || days.length === 0) return;
      context.out.note(`${count(total.tokens)} tokens in ${count(total.requests)} calls in total.`);
    });

export const usageSeriesCommand = (context: Context) =>
  new Command('series')
    .addOption(
      new Option('--group-by <what>', 'a series for each of the dearest').choices([
        'model',
        'provider',
        'status',
        'key',
        'error',
      ] as const),
    )
    .addOption(
      new Option('--bucket <length>', 'how long a row is').choices([
        '15m',
        'hour',
        'day',
        'week',
        'month',
      ] as const),
    )
    .option('--top <count>', 'series of their own at most', wholeNumber({ min: 1 }), 10)
    .option('--key <key>', 'only calls with this key, by id or name')
    .option('--model <model>', 'only calls to this model')
    .option(...zoneOption)
    .option('--since <time>', `only calls since then: ${pastTimeHelp}`, pastTimeInZone(context))
    .option('--until <time>', 'only calls before this time or through this UTC day', pastTimeInZone(context))
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example('gateway usage series --since 7d --bucket day --group-by model'))
    .action(async ({ groupBy, key, model, bucket, top, tz, ...times }) => {
      const filter = await resolveFilter(context, { key, model, ...rangeInZone(times, tz, context) });
      const found = await context
        .client()
        .call(getUsageSeries, { query: { ...filter, bucket, top, tz, group_by: groupBy } });
      const names = groupBy === 'key' ? await keyNamesFor(context) : new Map();
      const rows = found.series.flatMap((series) =>
        found.buckets.map(({ start }, index) => ({ start, series, index })),
      );
      const shown = rows.filter(({ series, index }) => allCalls(figuresOf(series, index, index + 1)) > 0);
      const columns = seriesColumns(groupBy, names);
      if (context.out.wantsJson())
        return context.out.document(
          rows.map((row) => ({ ...byName(row, columns), is_other: row.series.is_other })),
        );
      await context.out.table(
        shown.sort((a, b) => (a.start < b.start ? -1 : 1)),
        columns,
        { empty: 'No calls in this period.' },
      );
    });

export const usageLatencyCommand = (context: Context) =>
  new Command('latency')
    .addOption(new Option('--group-by <what>', 'a row for each').choices(['model', 'provider'] as const))
    .option('--model <model>', 'only calls to this model')
    .option('--provider <provider>', 'only calls that this provider answered')
    .option('--since <time>', `only calls since then: ${pastTimeHelp}`, pastTime(context))
    .option('--until <time>', 'only calls before this time or through this UTC day', pastTime(context))
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example('gateway usage latency --since 7d --group-by model'))
    .action(async ({ groupBy, model, provider, since, until }) => {
      const { series } = await context
        .client()
        .call(getUsageLatency, { query: { model, provider, since, until, group_by: groupBy } });
      const columns = latencyColumns(groupBy);
      await context.out.table(withNames(context, series, columns), columns, { empty: noLatency });
    });

/** The values of a row by the titles of its columns, as they are in CSV. */
function byName<Row>(row: Row, columns: readonly Column<Row>[]): Record<string, unknown> {
  return Object.fromEntries(columns.map(({ title, value }) => [title, value(row) ?? null]));
}

/** Rows that have in JSON the names of CSV, too. */
function withNames<Row extends object>(
  context: Context,
  rows: Row[],
  columns: readonly Column<Row>[],
): Row[] {
  return context.out.wantsJson() ? rows.map((row) => ({ ...byName(row, columns), ...row })) : rows;
}

interface TimeRange {
  since?: string | undefined;
  until?: string | undefined;
}

function rangeInZone({ since, until }: TimeRange, tz: string | undefined, context: Context): TimeRange {
  const inZone = (text: string | undefined) => text && dayInZone(text, tz, context);
  return { since: inZone(since), until: inZone(until) };
}

const noLatency = 'No calls were answered in this period.';

type LatencyQuery = Query<typeof getUsageLatencyContract>;

/** Shows percentiles by what usage is grouped by: days, models and providers. */
async function showLatency(
  context: Context,
  { groupBy, ...query }: Pick<LatencyQuery, 'model' | 'since' | 'until' | 'tz'> & { groupBy: string },
): Promise<void> {
  const names = groupBy.split(',');
  const byDay = names.includes('day');
  const [group, ...others] = names.filter((name) => name !== 'day');
  if (others.length > 0 || (group !== undefined && group !== 'model' && group !== 'provider'))
    throw new CliError('Latency is known by day, model or provider, and by day and one of the others.', {
      exit: exitCodes.usage,
    });
  const { buckets, series } = await context
    .client()
    .call(getUsageLatency, { query: { ...query, bucket: byDay ? 'day' : undefined, group_by: group } });
  const columns = latencyColumns(group);
  if (!byDay) return context.out.table(withNames(context, series, columns), columns, { empty: noLatency });
  const rows = buckets.flatMap(({ start }, index) =>
    series.map((one) => ({ day: localDay(Date.parse(start), query.tz ?? 'UTC'), ...atBucket(one, index) })),
  );
  const answered = rows.filter(({ total_ms, first_token_ms }) =>
    [total_ms, first_token_ms].some(([one]) => (one?.count ?? 0) > 0),
  );
  const day: Column<{ day: string }> = { title: 'day', value: (row) => row.day };
  const byDays = [day, ...columns];
  return context.out.table(withNames(context, answered, byDays), byDays, { empty: noLatency });
}

/** One bucket of a series. */
function atBucket({ group, ...series }: LatencySeries, index: number): LatencySeries {
  const one = (of: Distribution[]) => of.slice(index, index + 1);
  return {
    group,
    first_token_ms: one(series.first_token_ms),
    total_ms: one(series.total_ms),
    overhead_ms: one(series.overhead_ms),
    tokens_per_second: one(series.tokens_per_second),
  };
}

interface SeriesRow {
  start: string;
  series: UsageSeries;
  index: number;
}

function seriesColumns(groupBy: string | undefined, names: KeyNames): Column<SeriesRow>[] {
  const groupOf = ({ series: { group, is_other } }: SeriesRow) => (is_other ? 'other' : group);
  const at = (title: string, of: (series: UsageSeries) => number[]): Column<SeriesRow> => ({
    title,
    value: ({ series, index }) => of(series)[index],
    show: ({ series, index }) => count(of(series)[index] ?? 0),
    align: 'right',
  });
  const usd = (title: string, of: (series: UsageSeries) => string[]): Column<SeriesRow> => ({
    title,
    value: ({ series, index }) => of(series)[index],
    show: ({ series, index }) => dollars(of(series)[index]),
    align: 'right',
  });
  return [
    { title: 'start', value: ({ start }) => start },
    ...(groupBy === undefined
      ? []
      : [
          {
            title: groupBy,
            value: groupOf,
            show: (row: SeriesRow) =>
              groupBy === 'key' && !row.series.is_other
                ? keyText(row.series.group, names)
                : (groupOf(row) ?? '–'),
          },
        ]),
    at('requests', ({ requests }) => requests),
    at('errors', ({ errors }) => errors),
    at('rejected', ({ rejected = [] }) => rejected),
    { ...at('input', (series) => series.input_tokens), isSpare: true },
    { ...at('output', (series) => series.output_tokens), isSpare: true },
    usd('cost_usd', (series) => series.cost_usd),
    { ...usd('charged_usd', (series) => series.charged_usd), isSpare: true },
  ];
}

function latencyColumns(groupBy: string | undefined): Column<LatencySeries>[] {
  const percentile = (
    title: string,
    [of, name, show]: [
      (series: LatencySeries) => Distribution[],
      'p50' | 'p95' | 'p99',
      (value: number) => string,
    ],
  ): Column<LatencySeries> => ({
    title,
    value: (series) => of(series)[0]?.[name],
    show: (series) => {
      const value = of(series)[0]?.[name] ?? null;
      return value === null ? '–' : show(value);
    },
    align: 'right',
  });
  const first = (series: LatencySeries) => series.first_token_ms;
  const total = (series: LatencySeries) => series.total_ms;
  return [
    ...(groupBy === undefined ? [] : [{ title: groupBy, value: ({ group }: LatencySeries) => group ?? '–' }]),
    {
      title: 'calls',
      value: (series) => total(series)[0]?.count,
      show: (series) => count(total(series)[0]?.count ?? 0),
      align: 'right',
    },
    percentile('first_token_p50', [first, 'p50', duration]),
    percentile('first_token_p95', [first, 'p95', duration]),
    percentile('total_p50', [total, 'p50', duration]),
    percentile('total_p95', [total, 'p95', duration]),
    { ...percentile('total_p99', [total, 'p99', duration]), isSpare: true },
    {
      ...percentile('tokens_per_second_p50', [(series) => series.tokens_per_second, 'p50', String]),
      isSpare: true,
    },
    { ...percentile('overhead_p95', [(series) => series.overhead_ms, 'p95', duration]), isSpare: true },
  ];
}

const usageGroups = ['day', 'model', 'key', 'provider', 'status', 'client', 'user', 'tag', 'error'];

function groupings(text: string): string {
  const names = text.split(',');
  if (names.length > 2 || !names.every((name) => usageGroups.includes(name)))
    throw new InvalidArgumentError(`Name one or two of ${usageGroups.join(', ')}, such as day,model.`);
  return text;
}

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
  const groupBy = query.group_by ?? 'day';
  const names = groupBy.split(',').includes('key') ? await keyNamesFor(context, { inJson: true }) : undefined;
  const columns = groupColumns(groupBy, names);
  // A spreadsheet has no other way to find the names.
  if (names && (context.flags.csv || context.out.wantsJson())) columns.splice(1, 0, nameColumn(names));
  await context.out.table(withNames(context, sums.data, columns), columns, {
    empty: 'No calls in this period.',
  });
  if (!context.io.stdout.isTty || context.out.wantsJson()) return;
  const { total } = sums;
  const all = allCalls(total);
  if (all === 0) return;
  const rejected = total.rejected > 0 ? `${count(total.rejected)} of them rejected, ` : '';
  context.out.note(
    `${all === 1 ? '1 call' : `${count(all)} calls`}, ${rejected}charged ${dollars(total.charged_usd)} in total.`,
  );
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
  if (query.group_by && !query.group_by.includes('day')) sums.data.sort(dearestFirst);
  return { ...sums, has_more: false, next: null };
}

function dearestFirst(one: UsageGroup, other: UsageGroup): number {
  const charged = Number(other.charged_usd) - Number(one.charged_usd);
  const cost = Number(other.cost.total_usd) - Number(one.cost.total_usd);
  return charged || cost || allCalls(other) - allCalls(one);
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
  {
    title: 'cache_write',
    value: (usage) => usage.tokens.cache_write,
    show: ({ tokens }) => count(tokens.cache_write),
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
    show: ({ ttft_ms }) => duration(ttft_ms),
  },
  { title: 'total_ms', value: (usage) => usage.total_ms, show: (usage) => duration(usage.total_ms) },
  { title: 'created_at', value: (usage) => usage.created_at, show: (usage) => ago(usage.created_at, now) },
];

const spareFields = new Set(['input', 'cached_input', 'cache_write', 'output', 'reasoning', 'cost_usd']);

/** Totals by one or two groups, such as `day,model`. */
export const groupColumns = (groupBy: string, names: KeyNames = new Map()): Column<UsageGroup>[] => [
  ...groupBy.split(',').map((title, index): Column<UsageGroup> => {
    // Older daemons have one group.
    const of = ({ group, groups }: UsageGroup) => (groups ? (groups[index] ?? null) : group);
    return {
      title,
      value: of,
      show: (row) => (title === 'key' ? keyText(of(row), names) : (of(row) ?? '–')),
    };
  }),
  ...usageFields.map((field) => ({
    ...recordColumn(field, {}),
    ...(spareFields.has(field.name) && { isSpare: true as const }),
  })),
];

const nameColumn = (names: KeyNames): Column<UsageGroup> => ({
  title: 'name',
  value: ({ group }) => keyText(group, names),
});

function attemptsText({ attempts }: UsageView): string {
  return attempts.map(({ provider, status, error_code }) => `${provider} ${error_code ?? status}`).join(', ');
}
