import type { BudgetRecord } from '../../../features/budgets/store.ts';
import type { budgets } from './tables.ts';

type Row = typeof budgets.$inferSelect;

export function budgetRecord({ scope, scopeValue, ...row }: Row): BudgetRecord {
  return { ...row, scope: { kind: scope, value: scopeValue } };
}

export function budgetRow({ scope, thresholds, ...record }: BudgetRecord): Row {
  return { ...record, thresholds: [...thresholds], scope: scope.kind, scopeValue: scope.value };
}
