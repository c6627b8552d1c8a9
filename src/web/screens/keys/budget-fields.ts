import type { Budget, BudgetSettings } from '../../../shared/contract/budgets.ts';
import type { SpendPeriod } from '../../../shared/money/spend-periods.ts';
import { calendarIn } from '../../../view/calendars.ts';
import { type Field, idField } from '../../parts/field-types.ts';
import { type CalendarField, calendarFields } from './calendar-fields.ts';

export type BudgetField = 'id' | 'usd' | 'period' | 'scope' | 'value' | 'hard' | 'thresholds' | CalendarField;

const scopeTitles: Readonly<Record<Budget['scope'], string>> = {
  workspace: 'All calls of the workspace',
  key: 'A key and the keys that it issued',
  user: 'An end user',
  tag: 'A tag',
  model: 'A model',
  provider: 'A provider',
  where: 'Calls that match',
};

const periodTitles: Readonly<Record<SpendPeriod, string>> = {
  day: 'day',
  week: 'week',
  month: 'month',
  none: 'in all',
};

const choice = <N extends BudgetField>(
  name: N,
  label: string,
  value: string,
  titles: Readonly<Record<string, string>>,
): Field<N> => {
  const options = Object.entries(titles).map(([each, title]) => ({ value: each, title }));
  return { name, label, kind: 'choice', value, options, isHalf: true };
};

/** Fields for a new budget, or for what one is now. `keys` are those that it can be about. */
export function budgetFormFields(
  budget: Budget | undefined,
  keys: readonly { id: string; name: string }[],
  values: Readonly<Partial<Record<BudgetField, string>>>,
): Field<BudgetField>[] {
  const { scope = budget?.scope ?? 'workspace', period = budget?.period ?? 'month' } = values;
  const value = budget?.scope === scope ? (budget?.value ?? '') : '';
  const text = (label: string, placeholder: string, maxLength = 128): Field<BudgetField> => ({
    name: 'value',
    label,
    value,
    isRequired: true,
    placeholder,
    maxLength,
  });
  const subject: Record<string, Field<BudgetField>> = {
    key: {
      name: 'value',
      label: 'Key',
      kind: 'choice',
      value: value || (keys[0]?.id ?? ''),
      options: keys.map(({ id, name }) => ({ value: id, title: name || id })),
    },
    user: text('User', ''),
    tag: text('Tag', 'team=search'),
    model: text('Model', 'openai/gpt-5'),
    where: text('Filter', 'model:openai/* -tag:team=search', 1000),
    provider: text('Provider', 'openai'),
  };
  const about = subject[scope];
  return [
    idField(budget?.id, 'team-search'),
    {
      name: 'usd',
      label: 'Amount',
      kind: 'amount',
      value: budget?.usd ?? '',
      isRequired: true,
      isHalf: true,
    },
    choice('period', 'per', period, periodTitles),
    ...calendarFields(budget, { period }),
    choice('scope', 'Counts', scope, scopeTitles),
    ...(about ? [{ ...about, isHalf: true }] : []),
    {
      name: 'hard',
      label: 'Reject calls that could exceed it',
      kind: 'check',
      value: budget?.hard ? 'true' : '',
    },
    {
      name: 'thresholds',
      label: 'Report at',
      value: (budget?.thresholds ?? [50, 80, 100]).join(', '),
      hint: 'Percentages at which an event is stored, once a period.',
    },
  ];
}

/** What the fields say, as the endpoint takes it. */
export function budgetIn(values: Readonly<Partial<Record<BudgetField, string>>>): BudgetSettings {
  const { usd = '', period, scope, value, hard, thresholds = '' } = values;
  const percents = thresholds.split(/[\s,%]+/).filter(Boolean);
  return {
    usd: usd.trim(),
    period: period as SpendPeriod,
    ...calendarIn(values),
    scope: scope as Budget['scope'],
    ...(value && scope !== 'workspace' && { value: value.trim() }),
    hard: hard === 'true',
    thresholds: percents.map(Number),
  };
}
