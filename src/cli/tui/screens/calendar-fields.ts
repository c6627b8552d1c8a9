import type { CalendarMembers } from '../../../shared/money/spend-calendars.ts';
import { weekdays } from '../../../shared/time/time-zones.ts';
import { calendarLabels, isPeriodic } from '../../../view/calendars.ts';
import type { Field, FormValues } from '../text/form-field.ts';

/** When the periods of a limit begin; `params` are the names that the daemon has for a field. */
export function calendarFields(
  calendar: CalendarMembers | null | undefined,
  { params = (name: string) => [name], isShown = () => true }: CalendarOptions = {},
): Field[] {
  return [
    {
      name: 'time_zone',
      label: calendarLabels.time_zone,
      kind: 'text',
      initial: calendar?.time_zone ?? undefined,
      placeholder: 'UTC',
      params: params('time_zone'),
      isShown: (values) => isShown(values) && isPeriodic(values.period),
    },
    {
      name: 'day_starts',
      label: calendarLabels.day_starts,
      kind: 'text',
      initial: calendar?.day_starts ?? undefined,
      placeholder: '00:00',
      params: params('day_starts'),
      isShown: (values) => isShown(values) && isPeriodic(values.period),
    },
    {
      name: 'week_starts',
      label: calendarLabels.week_starts,
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
