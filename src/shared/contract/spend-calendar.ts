import { Type } from 'typebox';
import { weekdays } from '../time/time-zones.ts';
import { maybe, nullable } from './vocabulary.ts';

/** A clock time in steps of a quarter of an hour. */
export const dayStartPattern = '^([01]\\d|2[0-3]):(00|15|30|45)$';

const TimeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'The IANA time zone of the periods, such as `Europe/Berlin`; UTC without one. Days are longer or shorter when clocks change.',
});
const DayStarts = Type.String({
  pattern: dayStartPattern,
  description:
    'The time at which days begin, and with them weeks and months: `06:00`, in steps of 15 minutes. Midnight without one.',
});
const WeekStarts = Type.Enum([...weekdays], {
  description: 'The day with which weeks begin; Monday without one.',
});

/** When the periods of a limit begin, as clients set it. */
export const calendarSettings = {
  time_zone: maybe(TimeZone),
  day_starts: maybe(DayStarts),
  week_starts: maybe(WeekStarts),
};

/** The same as the daemon returns it: null where it is the default. */
export const calendarMembers = {
  time_zone: nullable(TimeZone),
  day_starts: nullable(DayStarts),
  week_starts: nullable(WeekStarts),
};
