export { SpendingBudgets } from './budgets.ts';
export { budgetHandlers } from './handlers.ts';
