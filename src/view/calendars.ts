import { weekdays } from '../shared/time/time-zones.ts';

/** When the periods of a limit begin, as fields of forms say it. */
interface CalendarValues {
  period?: string | undefined;
  time_zone?: string | undefined;
  day_starts?: string | undefined;
  week_starts?: string | undefined;
}

/** The fields of a calendar, by the names that the daemon has for them. */
export const calendarLabels = {
  time_zone: 'time zone',
  day_starts: 'days begin at',
  week_starts: 'weeks begin on',
} as const;

/** Whether a limit has periods that a calendar is of. */
export function isPeriodic(period: string | undefined): boolean {
  return period !== 'none' && period !== 'total';
}

/** The calendar that fields describe, as endpoints take it: nothing where it is the default. */
export function calendarIn({
  period,
  time_zone: zone,
  day_starts: time,
  week_starts: weekday,
}: CalendarValues) {
  if (!isPeriodic(period)) return {};
  const day = period === 'week' ? weekdays.find((name) => name === weekday && name !== 'monday') : undefined;
  return {
    ...(zone?.trim() && { time_zone: zone.trim() }),
    ...(time?.trim() && { day_starts: time.trim() }),
    ...(day && { week_starts: day }),
  };
}
