import { inputFault } from '../faults/input-faults.ts';
import { isTimeZone, type Weekday, weekdays } from '../time/time-zones.ts';
import type { SpendCalendar } from './spend-periods.ts';

/** The calendar of a limit as the API has it; null or absent members are those of UTC. */
export interface CalendarMembers {
  time_zone?: string | null | undefined;
  day_starts?: string | null | undefined;
  week_starts?: Weekday | null | undefined;
}

const defaults = { timeZone: 'UTC', dayStarts: 0, weekStarts: weekdays[0] } as const;

/** Reads a calendar; undefined for that of UTC. Fails with `invalid_request` for an unknown time zone. */
export function calendarIn(
  { time_zone: zone, day_starts: time, week_starts: weekday }: CalendarMembers,
  prefix = '',
): SpendCalendar | undefined {
  // Offsets such as +02:07 are no zones, and begin no quarter of an hour.
  if (zone != null && (/^[+-]/.test(zone) || !isTimeZone(zone)))
    throw inputFault(`${prefix}time_zone`, 'must be an IANA time zone, such as `Europe/Berlin`');
  const [hours = 0, minutes = 0] = (time ?? '').split(':').map(Number);
  const calendar: SpendCalendar = {
    timeZone: zone ?? defaults.timeZone,
    dayStarts: hours * 60 + minutes,
    weekStarts: weekday ?? defaults.weekStarts,
  };
  const isDefault =
    zone == null && calendar.dayStarts === defaults.dayStarts && calendar.weekStarts === defaults.weekStarts;
  return isDefault ? undefined : calendar;
}

/** The members of a calendar; null where they are the default. */
export function calendarView(calendar: SpendCalendar | undefined) {
  const { timeZone, dayStarts, weekStarts } = calendar ?? defaults;
  const twoDigits = (number: number) => String(number).padStart(2, '0');
  return {
    time_zone: timeZone === defaults.timeZone ? null : timeZone,
    day_starts:
      dayStarts === defaults.dayStarts
        ? null
        : `${twoDigits(Math.floor(dayStarts / 60))}:${twoDigits(dayStarts % 60)}`,
    week_starts: weekStarts === defaults.weekStarts ? null : weekStarts,
  };
}
