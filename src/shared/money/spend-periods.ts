import { daysSinceMonday } from '../time/time.ts';
import { periodInZone, type ZonedDays } from '../time/time-zones.ts';
import type { NanoUsd } from './money.ts';

/** The periods of budgets; `none` never ends. Without a calendar they are those of UTC, and weeks begin on Monday. */
export const spendPeriods = ['day', 'week', 'month', 'none'] as const;

export type SpendPeriod = (typeof spendPeriods)[number];

/** Charges in the periods that contain one time. */
export type PeriodSpend = Record<SpendPeriod, NanoUsd>;

export const noSpend: Readonly<PeriodSpend> = { day: 0, week: 0, month: 0, none: 0 };

/** When the periods of a limit begin: weeks and months at the start of a day. */
export type SpendCalendar = ZonedDays;

/** Tells calendars apart; empty for that of UTC. */
export function calendarName(calendar: SpendCalendar | undefined): string {
  return calendar ? `${calendar.timeZone} ${calendar.dayStarts} ${calendar.weekStarts}` : '';
}

/** Whether periods begin at the same times; cheap for calendars of UTC. */
export function isSameCalendar(a: SpendCalendar | undefined, b: SpendCalendar | undefined): boolean {
  return a === b || calendarName(a) === calendarName(b);
}

const dayMs = 86_400_000;

/** The start of the period that contains a time; 0 if it has none. */
export function startOfPeriod(period: SpendPeriod, at: number, calendar?: SpendCalendar): number {
  if (period === 'none') return 0;
  if (calendar) return periodInZone(period, at, calendar).start;
  const day = Math.floor(at / dayMs);
  if (period === 'day') return day * dayMs;
  if (period === 'week') return (day - daysSinceMonday(day)) * dayMs;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** The end of the period that contains a time; undefined if it never ends. */
export function endOfPeriod(period: SpendPeriod, at: number, calendar?: SpendCalendar): number | undefined {
  if (period === 'none') return undefined;
  if (calendar) return periodInZone(period, at, calendar).end;
  const start = startOfPeriod(period, at);
  if (period === 'day') return start + dayMs;
  if (period === 'week') return start + 7 * dayMs;
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
