import { Argument, Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import {
  type Budget,
  type BudgetSettings,
  budgetIdPattern,
  thresholdMax,
  thresholdsMax,
} from '../../shared/contract/budgets.ts';
import { deleteBudget, getBudget, listBudgets, putBudget } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { spendPeriods } from '../../shared/money/spend-periods.ts';
import { budgetFields, shareOf } from '../../view/budgets.ts';
import { dollars } from '../../view/money.ts';
import { calendarOf, calendarOptions } from '../calendar-options.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failures/cli-error.ts';
import { resolveKey, resolveWorkspace } from '../names/resolve.ts';
import { example, yesOption } from '../options.ts';
import { recordColumn } from '../output/field-columns.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';
import { bar } from './keys/keys.ts';

const ofWorkspace = ['--workspace <workspace>', 'the workspace that the budget is of', 'me'] as const;

/** A parser for the names of budgets and alerts. */
export function ownName(text: string): string {
  if (new RegExp(budgetIdPattern).test(text)) return text;
  throw new InvalidArgumentError('It must be up to 64 lowercase letters, digits, _ and -, like team-search.');
}

export const setBudgetCommand = (context: Context) =>
  new Command('set')
    .argument('<name>', 'a name of your choice', ownName)
    .addArgument(
      new Argument(
        '[amount/period]',
        'dollars and day, week, month or none: 5/day, 20/month, 100/none',
      ).argParser(amountPerPeriod),
    )
    .addOption(scopeOption('key', '--key <key>', 'only calls of this key and the keys it issued'))
    .addOption(scopeOption('user', '--user <user>', 'only calls for this end user'))
    .addOption(scopeOption('tag', '--tag <name=value>', 'only calls with this tag'))
    .addOption(scopeOption('model', '--model <model>', 'only calls that this model answers'))
    .addOption(scopeOption('provider', '--provider <name>', 'only calls that this provider answers'))
    .addOption(
      scopeOption('where', '--where <filter>', 'only calls that match, like "model:openai/* tag:team=a"'),
    )
    .addOption(calendarOptions.timeZone())
    .addOption(calendarOptions.dayStarts())
    .addOption(calendarOptions.weekStarts())
    .addOption(new Option('--hard', 'reject calls that could exceed it').conflicts('soft'))
    .option('--soft', 'only report what is spent')
    .option(
      '--thresholds <percentages>',
      'when to report, in percent of the amount; default: 50,80,100; "" for never',
      percentages,
    )
    .option(...ofWorkspace)
    .addHelpText(
      'after',
      example('gateway budgets set team-search 5/day --tag team=search --time-zone Europe/Berlin --hard'),
    )
    .action(async (id, amount, { workspace, ...flags }) => {
      const params = { workspace: await resolveWorkspace(context, workspace), id };
      const before = await existing(context, params);
      const settings = amount ?? before;
      if (!settings) {
        throw usageError(
          `There is no budget ${id} yet, so it needs an amount.`,
          `Try: gateway budgets set ${id} 5/day`,
        );
      }
      const thresholds = flags.thresholds ?? before?.thresholds;
      const body: BudgetSettings = {
        usd: settings.usd,
        period: settings.period,
        ...calendarBefore(before),
        ...calendarOf(flags),
        ...(await scopeOf(context, { ...flags, workspace: params.workspace }, before)),
        hard: flags.hard ?? (flags.soft ? false : (before?.hard ?? false)),
        ...(thresholds && { thresholds }),
      };
      // The value is that of one of its options.
      const others = scopeFlags.flatMap((name) => (name === body.scope ? [] : `--${name}`));
      context.inputs = context.inputs.filter((name) => !others.includes(name));
      const budget = await context.client().call(putBudget, { params, body });
      await context.out.record(budget, budgetColumns, { pipedRow: budgetColumns });
      context.out.note('This applies from the next call.');
    });

export const listBudgetsCommand = (context: Context) =>
  new Command('list')
    .option(...ofWorkspace)
    .addHelpText('after', example("gateway budgets list --jq '.[] | select(.hard) | .id'"))
    .action(async ({ workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      const { data } = await context.client().call(listBudgets, { params });
      const empty = 'No budgets yet: gateway budgets set <name> 5/day';
      await context.out.table(data, budgetColumns, { empty });
    });

export const showBudgetCommand = (context: Context) =>
  new Command('show')
    .argument('<budget>', 'the budget')
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway budgets show team-search'))
    .action(async (id, { workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace), id };
      const budget = await context.client().call(getBudget, { params });
      await context.out.record(budget, budgetColumns, { pipedRow: budgetColumns });
    });

export const checkBudgetsCommand = (context: Context) =>
  new Command('check')
    .argument('[budget]', 'the budget; by default all')
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway budgets check team-search && ./nightly.sh'))
    .action(async (id, { workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      const client = context.client();
      const checked =
        id === undefined
          ? (await client.call(listBudgets, { params })).data
          : [await client.call(getBudget, { params: { ...params, id } })];
      const usedUp = checked.filter((budget) => shareOf(budget) >= 1);
      await context.out.table(usedUp, budgetColumns, { empty: 'No budget is used up.' });
      if (usedUp.length > 0) context.exit = exitCodes.refused;
    });

export const removeBudgetCommand = (context: Context) =>
  new Command('remove')
    .argument('<budget>', 'the budget')
    .addOption(yesOption())
    .option(...ofWorkspace)
    .addHelpText('after', example('gateway budgets remove team-search --yes'))
    .action(async (id, { workspace, yes }) => {
      const params = { workspace: await resolveWorkspace(context, workspace), id };
      const find = async () => void (await context.client().call(getBudget, { params }));
      await confirm(context, `Remove the budget ${id}?`, { yes, find });
      const removed = await context.client().call(deleteBudget, { params });
      return context.out.done(removed, `Removed the budget ${id}.`);
    });

/** The budget with a name, if there is one. */
async function existing(
  context: Context,
  params: { workspace: string; id: string },
): Promise<Budget | undefined> {
  return await context
    .client()
    .call(getBudget, { params })
    .catch((error: unknown) => {
      if (error instanceof ReceivedError && error.code === 'not_found') return undefined;
      throw error;
    });
}

interface ScopeFlags {
  workspace: string;
  key?: string | undefined;
  user?: string | undefined;
  tag?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  where?: string | undefined;
}

const scopeFlags = ['key', 'user', 'tag', 'model', 'provider', 'where'] as const;

/** An option for what a budget counts, which is one thing. */
function scopeOption<F extends string>(name: (typeof scopeFlags)[number], flags: F, description: string) {
  return new Option(flags, description).conflicts(scopeFlags.filter((other) => other !== name));
}

/** When the periods of a budget begin now; a daemon of an earlier version does not say. */
function calendarBefore(budget: Budget | undefined) {
  if (budget?.time_zone === undefined) return undefined;
  const { time_zone, day_starts, week_starts } = budget;
  return { time_zone, day_starts, week_starts };
}

/** The scope that flags name, else that of the budget before. */
async function scopeOf(
  context: Context,
  { workspace, key, ...flags }: ScopeFlags,
  before: Budget | undefined,
): Promise<Pick<BudgetSettings, 'scope' | 'value'>> {
  if (key !== undefined) return { scope: 'key', value: await resolveKey(context, { key, workspace }) };
  for (const scope of ['user', 'tag', 'model', 'provider', 'where'] as const) {
    const value = flags[scope];
    if (value !== undefined) return { scope, value };
  }
  return before ? { scope: before.scope, value: before.value } : { scope: 'workspace' };
}

const amountForm = /^\d{1,7}(\.\d{1,9})?$/;

/** `5/day` as the members of a budget. */
function amountPerPeriod(text: string): Pick<BudgetSettings, 'usd' | 'period'> {
  const [usd = '', name = 'none', ...rest] = text.replace(/^\$/, '').split('/');
  const period = spendPeriods.find((each) => each === name);
  if (amountForm.test(usd) && period && rest.length === 0) return { usd, period };
  throw new InvalidArgumentError('It must be an amount and a period, like 5/day, 20/month or 100/none.');
}

export function percentages(text: string): number[] {
  const numbers =
    text.trim() === '' ? [] : text.split(',').map((part) => Number(part.trim().replace(/%$/, '')));
  const isPercentage = (number: number) => Number.isInteger(number) && number >= 1 && number <= thresholdMax;
  if (numbers.every(isPercentage) && numbers.length <= thresholdsMax) return [...new Set(numbers)];
  throw new InvalidArgumentError(`It must be at most ${thresholdsMax} whole percentages, like 50,80,100.`);
}

const inRecords = Object.fromEntries(
  budgetFields.map((field) => [field.name, recordColumn(field, { keyNames: new Map() })]),
) as Record<string, Column<Budget>>;

const recorded = (...names: string[]) => names.flatMap((name) => inRecords[name] ?? []);

export const budgetColumns: Column<Budget>[] = [
  ...recorded('id', 'scope', 'usd'),
  { title: 'period', value: (budget) => budget.period, isSpare: true },
  ...recorded('kind'),
  ...recorded('spent_usd').map(({ align: _, ...column }) => ({
    ...column,
    show: (budget: Budget) => `${bar(shareOf(budget))} ${dollars(budget.spent_usd)}`,
  })),
  ...recorded('held_usd').map((column) => ({ ...column, isSpare: true as const })),
  ...recorded('forecast_usd', 'resets_at'),
  ...recorded('thresholds').map((column) => ({ ...column, isSpare: true as const })),
  // Where these matter, the limit says so.
  {
    title: 'time_zone',
    value: (budget) => budget.time_zone,
    show: (budget) => budget.time_zone ?? 'UTC',
    isSpare: true,
  },
  {
    title: 'day_starts',
    value: (budget) => budget.day_starts,
    show: (budget) => budget.day_starts ?? '00:00',
    isSpare: true,
  },
  {
    title: 'week_starts',
    value: (budget) => budget.week_starts,
    show: (budget) => budget.week_starts ?? 'monday',
    isSpare: true,
  },
];
