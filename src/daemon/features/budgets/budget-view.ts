import type { Budget } from '../../../shared/contract/budgets.ts';
import { formatUsd } from '../../../shared/money/money.ts';
import { calendarView } from '../../../shared/money/spend-calendars.ts';
import { spendForecast } from '../../../shared/money/spend-forecast.ts';
import { endOfPeriod, startOfPeriod } from '../../../shared/money/spend-periods.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { refusedPercent } from './budget-events.ts';
import type { UsedBudget } from './budgets.ts';

/** The API's form of a budget. */
export function budgetView({ record, use }: UsedBudget, now: number): Budget {
  const { id, scope, amount, period, calendar, fired } = record;
  const start = startOfPeriod(period, now, calendar);
  const end = endOfPeriod(period, now, calendar);
  const firedNow = fired.filter((each) => each.period === start);
  const refused = firedNow.find(({ percent }) => percent === refusedPercent);
  const forecast = spendForecast({ spent: use.spent, amount }, { start, end, now });
  return {
    id,
    object: 'budget',
    scope: scope.kind,
    value: scope.kind === 'workspace' ? null : scope.value,
    usd: formatUsd(amount),
    period,
    ...calendarView(calendar),
    hard: record.isHard,
    thresholds: [...record.thresholds],
    spent_usd: formatUsd(use.spent),
    held_usd: formatUsd(use.held),
    remaining_usd: formatUsd(Math.max(0, amount - use.spent - use.held)),
    forecast_usd: forecast && formatUsd(forecast.spent),
    reached_at: forecast?.reachedAt === undefined ? null : isoTime(forecast.reachedAt),
    period_start: end === undefined ? null : isoTime(start),
    resets_at: end === undefined ? null : isoTime(end),
    fired: firedNow
      .filter(({ percent }) => percent !== refusedPercent)
      .map(({ percent, at }) => ({ percent, at: isoTime(at) })),
    refused_at: refused ? isoTime(refused.at) : null,
    created_at: isoTime(record.createdAt),
    updated_at: isoTime(record.updatedAt),
  };
}
