import type { NanoUsd } from './money.ts';

/** The periods of budgets, in UTC; weeks begin on Monday. `none` never ends. */
export const spendPeriods = ['day', 'week', 'month', 'none'] as const;

export type SpendPeriod = (typeof spendPeriods)[number];

/** Charges in the periods that contain one time. */
export type PeriodSpend = Record<SpendPeriod, NanoUsd>;

export const noSpend: Readonly<PeriodSpend> = { day: 0, week: 0, month: 0, none: 0 };

const dayMs = 86_400_000;

/** How many days after Monday a day is; days are counted from 1970-01-01, a Thursday, and those before it are negative. */
export function daysSinceMonday(day: number): number {
  return (((day + 3) % 7) + 7) % 7;
}

/** The start of the period that contains a time; 0 if it has none. */
export function startOfPeriod(period: SpendPeriod, at: number): number {
  if (period === 'none') return 0;
  const day = Math.floor(at / dayMs);
  if (period === 'day') return day * dayMs;
  if (period === 'week') return (day - daysSinceMonday(day)) * dayMs;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** The end of the period that contains a time; undefined if it never ends. */
export function endOfPeriod(period: SpendPeriod, at: number): number | undefined {
  if (period === 'none') return undefined;
  const start = startOfPeriod(period, at);
  if (period === 'day') return start + dayMs;
  if (period === 'week') return start + 7 * dayMs;
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
