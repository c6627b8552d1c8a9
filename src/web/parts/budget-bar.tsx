import type { Budget } from '../../shared/contract/budgets.ts';
import { capText } from '../../view/money.ts';
import { budgetCallsHref } from '../data/budget-calls.ts';
import { SpendBar } from './spend-bar.tsx';

/** What is spent of a budget, and what will be. */
export function BudgetBar({ budget }: { budget: Budget }) {
  const { usd, spent_usd: spent, forecast_usd: forecast } = budget;
  return (
    <SpendBar
      spent={spent}
      limit={usd}
      cap={capText(budget)}
      forecast={forecast === null ? undefined : Number(forecast)}
      reachedAt={budget.reached_at === null ? undefined : Date.parse(budget.reached_at)}
      href={budgetCallsHref(budget, budget.period_start ?? undefined)}
      resetsAt={budget.resets_at === null ? undefined : Date.parse(budget.resets_at)}
    />
  );
}
