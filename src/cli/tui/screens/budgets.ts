import {
  type Budget,
  type BudgetSettings,
  budgetScopes,
  defaultThresholds,
} from '../../../shared/contract/budgets.ts';
import { deleteBudget, getBudget, listBudgets, putBudget } from '../../../shared/endpoints.ts';
import { spendPeriods } from '../../../shared/money/spend-periods.ts';
import { budgetFields, shareOf, toneOfShare } from '../../../view/budgets.ts';
import { calendarIn } from '../../../view/calendars.ts';
import { pick } from '../../../view/field.ts';
import { capText } from '../../../view/money.ts';
import { budgetColumns, percentages } from '../../commands/budgets.ts';
import { styleOf } from '../../output/field-columns.ts';
import type { Services } from '../services/services.ts';
import { gauge } from '../text/charts.ts';
import { type Field, FieldFault, type FormValues, parsedField } from '../text/form-field.ts';
import { fieldColumn, type ListColumn } from '../text/list-table.ts';
import { calendarFields } from './calendar-fields.ts';
import { recordLines, recordPage } from './pages.ts';
import type { Screen } from './screen.ts';

const workspace = 'me';

/** The budgets of the workspace, with what is spent. */
export const budgetsScreen: Screen<Budget> = {
  id: 'budgets',
  title: 'Budgets',
  letter: 'f',
  aliases: ['budget'],
  empty: ['No budgets yet. Press c to set one.', 'A hard one rejects calls that could exceed it.'],
  footer: ['open', 'compose', 'edit', 'remove', 'mark'],
  refreshEveryMs: 10_000,
  isAffectedBy: ({ type }) => type.startsWith('budget.'),
  columns: () => columns,
  load: async ({ client }) => (await client.call(listBudgets, { params: { workspace } })).data,
  idOf: ({ id }) => id,
  copyText: ({ id }) => id,
  commandText: ({ id }) => `gateway budgets show ${id}`,
  json: (budget) => budget,
  preview: (budget, options) => recordLines(budget, budgetColumns, options),
  async open({ id }, { client }) {
    const budget = await client.call(getBudget, { params: { workspace, id } });
    return recordPage(id, budget, { columns: budgetColumns, copy: id });
  },
  compose: {
    label: 'set a budget',
    fields: () => [
      { name: 'id', label: 'name', kind: 'text', placeholder: 'such as team-search' },
      ...settingFields(),
    ],
    async submit({ id = '', ...values }, services) {
      if (id === '') throw new FieldFault('id', 'A budget needs a name.');
      return put(id, values, services);
    },
  },
  edit: {
    label: 'change',
    labelFor: ({ id }) => `budget ${id}`,
    needsRow: true,
    fields: (row) => settingFields(row),
    submit: async (values, services, row) => (row ? put(row.id, values, services) : 'No budget is selected.'),
  },
  remove: {
    question: (rows) =>
      rows.length === 1 ? `Remove the budget ${rows[0]?.id}?` : `Remove ${rows.length} budgets?`,
    verb: 'Remove',
    async run(rows, { client }) {
      for (const { id } of rows) await client.call(deleteBudget, { params: { workspace, id } });
      return rows.length === 1 ? `Removed ${rows[0]?.id}.` : `Removed ${rows.length} budgets.`;
    },
  },
};

const listed = (...names: string[]) =>
  pick(budgetFields, names).map((field) => fieldColumn(field, () => ({ keyNames: new Map() })));

const columns: ListColumn<Budget>[] = [
  ...listed('id').map((column) => ({ ...column, grows: true as const })),
  ...listed('scope'),
  {
    title: 'used',
    width: 16,
    isChart: true,
    value: shareOf,
    text: (budget, options) => gauge(shareOf(budget), options.width, options),
    style: (budget) => styleOf(toneOfShare(shareOf(budget))),
  },
  ...listed('usd', 'kind', 'spent_usd', 'resets_at'),
];

function settingFields(budget?: Budget): Field[] {
  return [
    { name: 'usd', label: 'amount, $', kind: 'number', initial: budget?.usd, placeholder: '5' },
    { name: 'period', label: 'per', kind: 'choice', choices: spendPeriods, initial: budget?.period },
    {
      name: 'scope',
      label: 'counts calls of',
      kind: 'choice',
      choices: budgetScopes,
      initial: budget?.scope,
    },
    {
      name: 'value',
      label: 'which one',
      kind: 'text',
      initial: budget?.value ?? undefined,
      placeholder: 'the id of a key, a user, a tag as name=value, a model, a provider or a filter',
      isShown: ({ scope }) => scope !== 'workspace',
    },
    {
      name: 'hard',
      label: 'when it is used up',
      kind: 'choice',
      choices: ['only report', 'reject calls'],
      initial: budget?.hard ? 'reject calls' : 'only report',
    },
    {
      name: 'thresholds',
      label: 'report at, %',
      kind: 'text',
      initial: (budget?.thresholds ?? defaultThresholds).join(', '),
      placeholder: 'never',
    },
    ...calendarFields(budget),
  ];
}

async function put(id: string, values: FormValues, { client }: Services): Promise<string> {
  const { usd = '', period, scope, value, hard, thresholds = '' } = values;
  if (usd === '') throw new FieldFault('usd', 'A budget needs an amount.');
  const body: BudgetSettings = {
    usd,
    period: spendPeriods.find((one) => one === period) ?? 'none',
    scope: budgetScopes.find((one) => one === scope) ?? 'workspace',
    ...calendarIn(values),
    ...(scope !== 'workspace' && { value: value || null }),
    hard: hard === 'reject calls',
    thresholds: parsedField('thresholds', () => percentages(thresholds)),
  };
  const budget = await client.call(putBudget, { params: { workspace, id }, body });
  return `${id}: ${capText(budget)}. This applies from the next call.`;
}
