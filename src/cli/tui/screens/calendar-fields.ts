import type { CalendarMembers } from '../../../shared/money/spend-calendars.ts';
import { weekdays } from '../../../shared/time/time-zones.ts';
import type { Field, FormValues } from '../text/form-field.ts';

/** When the periods of a limit begin; `params` are the names that the daemon has for a field. */
export function calendarFields(
  calendar: CalendarMembers | null | undefined,
  { params = (name: string) => [name], isShown = () => true }: CalendarOptions = {},
): Field[] {
  return [
    {
      name: 'time_zone',
      label: 'time zone',
      kind: 'text',
      initial: calendar?.time_zone ?? undefined,
      placeholder: 'UTC',
      params: params('time_zone'),
      isShown: (values) => isShown(values) && isPeriodic(values),
    },
    {
      name: 'day_starts',
      label: 'days begin at',
      kind: 'text',
      initial: calendar?.day_starts ?? undefined,
      placeholder: '00:00',
      params: params('day_starts'),
      isShown: (values) => isShown(values) && isPeriodic(values),
    },
    {
      name: 'week_starts',
      label: 'weeks begin on',
      kind: 'choice',
      choices: weekdays,
      initial: calendar?.week_starts ?? undefined,
      isShown: (values) => isShown(values) && values.period === 'week',
    },
  ];
}

interface CalendarOptions {
  params?: (name: string) => string[];
  isShown?: (values: FormValues) => boolean;
}

/** The calendar that the fields describe, as far as it is not that of UTC. */
export function calendarIn(values: FormValues) {
  const { time_zone: zone, day_starts: time, week_starts: weekday, period } = values;
  const isWeekly = period === 'week';
  const found = isWeekly ? weekdays.find((day) => day === weekday && day !== 'monday') : undefined;
  return {
    ...(isPeriodic(values) && zone?.trim() && { time_zone: zone.trim() }),
    ...(isPeriodic(values) && time?.trim() && { day_starts: time.trim() }),
    ...(found && { week_starts: found }),
  };
}

function isPeriodic({ period }: FormValues): boolean {
  return period !== 'none' && period !== 'total';
}
