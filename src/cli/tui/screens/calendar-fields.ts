import type { CalendarMembers } from '../../../shared/money/spend-calendars.ts';
import { weekdays } from '../../../shared/time/time-zones.ts';
import { calendarLabels, isPeriodic } from '../../../view/calendars.ts';
import type { Field, FormValues } from '../text/form-field.ts';

/** When the periods of a limit begin; `params` are the names that the daemon has for a field. */
export function calendarFields(
  calendar: CalendarMembers | null | undefined,
  { params = (name: string) => [name], isShown = () => true }: CalendarOptions = {},
): Field[] {
  const text = (name: 'time_zone' | 'day_starts', placeholder: string): Field => ({
    name,
    label: calendarLabels[name],
    kind: 'text',
    initial: calendar?.[name] ?? undefined,
    placeholder,
    params: params(name),
    isShown: (values) => isShown(values) && isPeriodic(values.period),
  });
  return [
    text('time_zone', 'UTC'),
    text('day_starts', '00:00'),
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
