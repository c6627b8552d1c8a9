import type { BudgetRecord } from '../../../features/budgets/store.ts';
import type { budgets } from './tables.ts';

type Row = typeof budgets.$inferSelect;

export function budgetRecord({ scope, scopeValue, calendar, ...row }: Row): BudgetRecord {
  return { ...row, scope: { kind: scope, value: scopeValue }, ...(calendar && { calendar }) };
}

export function budgetRow({ scope, thresholds, calendar, ...record }: BudgetRecord): Row {
  return {
    ...record,
    thresholds: [...thresholds],
    scope: scope.kind,
    scopeValue: scope.value,
    calendar: calendar ?? null,
  };
}
