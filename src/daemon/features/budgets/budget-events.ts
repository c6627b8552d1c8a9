import { formatUsd, type NanoUsd } from '../../../shared/money/money.ts';
import { endOfPeriod } from '../../../shared/money/spend-periods.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { NewEvent } from '../events/index.ts';
import type { BudgetRule } from '../metering/index.ts';
import type { FiredThreshold } from './store.ts';

/** In place of a percentage: the first call that a budget refused in a period. */
export const refusedPercent = 0;

/** The event of a threshold that was reached, or of the first call that a hard budget refused in a period. */
export function budgetEvent(
  { workspaceId, id, scope, period, calendar, amount, isHard }: BudgetRule,
  { fired, spent }: { fired: FiredThreshold; spent: NanoUsd },
): NewEvent {
  const end = endOfPeriod(period, fired.at, calendar);
  const data = {
    budget: id,
    scope: scope.kind,
    value: scope.kind === 'workspace' ? null : scope.value,
    // Events are filtered by it.
    ...(scope.kind === 'key' && { key: scope.value }),
    ...(fired.percent !== refusedPercent && { percent: fired.percent }),
    hard: isHard,
    period,
    limit_usd: formatUsd(amount),
    spent_usd: formatUsd(spent),
    resets_at: end === undefined ? null : isoTime(end),
  };
  const type = fired.percent === refusedPercent ? 'budget.refused' : 'budget.threshold';
  return { type, workspaceId, at: fired.at, data };
}
