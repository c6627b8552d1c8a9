import { slotMs } from '../usage/slot-totals.ts';

/** The quarters of an hour since 1970 in which periods begin, as statements take them. */
export interface Starts {
  day: number;
  week: number;
  month: number;
}

/** Sums of rows with an `amount` and a `slot` since 1970. */
export const byPeriod = `coalesce(sum(amount), 0) AS none,
  coalesce(sum(amount) FILTER (WHERE slot >= @month), 0) AS month,
  coalesce(sum(amount) FILTER (WHERE slot >= @week), 0) AS week,
  coalesce(sum(amount) FILTER (WHERE slot >= @day), 0) AS day`;

export const slotOf = `calls.completed_at / ${slotMs}`;
