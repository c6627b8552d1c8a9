import type { Budget } from '../shared/contract/budgets.ts';
import type { Field, Tone } from './field.ts';
import { type KeyNames, keyText } from './key-names.ts';
import { briefDollars, capText, dollars } from './money.ts';
import { points } from './numbers.ts';
import { plannedTime } from './times.ts';

interface BudgetContext {
  keyNames: KeyNames;
}

/** The used share of a budget or cap, 1 when used up. */
export function shareOf({ usd, spent_usd: spent }: Pick<Budget, 'usd' | 'spent_usd'>): number {
  return Number(usd) === 0 ? 1 : Number(spent) / Number(usd);
}

/** How a used share is coloured. */
export function toneOfShare(share: number): Tone | undefined {
  if (share < 0.8) return undefined;
  return share >= 1 ? 'bad' : 'warn';
}

/** What a budget has. */
export const budgetFields: readonly Field<Budget, BudgetContext>[] = [
  { name: 'id', label: 'budget', value: ({ id }) => id, width: 14 },
  {
    name: 'scope',
    label: 'of',
    value: ({ scope, value }) => (value === null ? scope : `${scope} ${value}`),
    text: ({ scope, value }, { keyNames }) => {
      if (value === null) return 'all calls';
      return scope === 'where' ? value : `${scope} ${scope === 'key' ? keyText(value, keyNames) : value}`;
    },
    width: 14,
    spare: 2,
  },
  { name: 'usd', label: 'limit', value: ({ usd }) => usd, text: capText, width: 16 },
  { name: 'kind', value: ({ hard }) => (hard ? 'hard' : 'soft'), width: 5 },
  {
    name: 'spent_usd',
    label: 'spent',
    unit: 'usd',
    value: ({ spent_usd: spent }) => spent,
    text: ({ spent_usd: spent }) => briefDollars(spent),
    exact: ({ spent_usd: spent }) => dollars(spent),
    tone: (budget) => toneOfShare(shareOf(budget)),
    width: 10,
    spare: 1,
  },
  {
    name: 'held_usd',
    label: 'reserved',
    unit: 'usd',
    value: ({ held_usd: held }) => held,
    text: ({ held_usd: held }) => briefDollars(held),
    exact: ({ held_usd: held }) => dollars(held),
  },
  {
    name: 'forecast_usd',
    label: 'forecast',
    value: ({ forecast_usd: forecast }) => forecast,
    text: ({ forecast_usd: forecast, reached_at: reached }) => {
      if (forecast === null) return '–';
      const amount = `≈${briefDollars(forecast)}`;
      return reached === null ? amount : `${amount}, used up ${plannedTime(reached)}`;
    },
    tone: ({ reached_at: reached }) => (reached === null ? undefined : 'warn'),
  },
  {
    name: 'resets_at',
    label: 'resets',
    value: ({ resets_at: resets }) => resets,
    text: ({ resets_at: resets }) => (resets === null ? 'never' : plannedTime(resets)),
    width: 14,
    spare: 3,
  },
  {
    name: 'thresholds',
    value: ({ thresholds }) => thresholds.join(','),
    text: ({ thresholds, fired }) =>
      thresholds
        .map((percent) => `${points(percent)}${fired.some((each) => each.percent === percent) ? ' ✓' : ''}`)
        .join(', ') || 'none',
  },
];
