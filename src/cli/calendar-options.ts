import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { type Weekday, weekdays } from '../shared/time/time-zones.ts';
import { zone } from './times.ts';

/** The options that say when the periods of a limit begin. */
export const calendarOptions = {
  timeZone: () =>
    new Option(
      '--time-zone <zone>',
      'whose days, weeks and months they are: UTC, local or an IANA zone',
    ).argParser(zone),
  dayStarts: () =>
    new Option('--day-starts <time>', 'when days begin, in steps of 15 minutes, like 06:00').argParser(
      dayStart,
    ),
  weekStarts: () => new Option('--week-starts <day>', 'with which day weeks begin').choices(weekdays),
};

export interface CalendarFlags {
  timeZone?: string | undefined;
  dayStarts?: string | undefined;
  weekStarts?: Weekday | undefined;
}

/** The members of the API that the options set. */
export function calendarOf({ timeZone, dayStarts, weekStarts }: CalendarFlags) {
  return {
    ...(timeZone !== undefined && { time_zone: timeZone }),
    ...(dayStarts !== undefined && { day_starts: dayStarts }),
    ...(weekStarts !== undefined && { week_starts: weekStarts }),
  };
}

function dayStart(text: string): string {
  if (/^([01]\d|2[0-3]):(00|15|30|45)$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a time in steps of 15 minutes, like 06:00 or 21:30.');
}
