import type { CalendarMembers } from '../../../shared/money/spend-calendars.ts';
import { weekdays } from '../../../shared/time/time-zones.ts';
import { calendarLabels, isPeriodic } from '../../../view/calendars.ts';
import { zoneName } from '../../data/preferences.ts';
import { zoneNames } from '../../data/zones.ts';
import type { Field } from '../../parts/field-types.ts';

export type CalendarField = 'time_zone' | 'day_starts' | 'week_starts';

/** Fields for when the periods of a limit begin; none for what never resets. `param` precedes their names in errors. */
export function calendarFields(
  calendar: CalendarMembers | null | undefined,
  { period, param = '' }: { period: string; param?: string },
): Field<CalendarField>[] {
  if (!isPeriodic(period)) return [];
  const zone = calendar?.time_zone ?? '';
  const own = zoneName();
  const first = [...new Set([own, zone])].filter((name) => name !== '' && name !== 'UTC');
  const zones = [...first, ...zoneNames().filter((name) => !first.includes(name))];
  return [
    {
      name: 'time_zone',
      label: capitalized(calendarLabels.time_zone),
      kind: 'choice',
      value: zone,
      options: [{ value: '', title: 'UTC' }, ...zones.map((name) => ({ value: name, title: name }))],
      param: `${param}time_zone`,
      isHalf: true,
    },
    {
      name: 'day_starts',
      label: capitalized(calendarLabels.day_starts),
      value: calendar?.day_starts ?? '',
      placeholder: '00:00',
      maxLength: 5,
      param: `${param}day_starts`,
      isHalf: true,
    },
    ...(period === 'week'
      ? ([
          {
            name: 'week_starts',
            label: capitalized(calendarLabels.week_starts),
            kind: 'choice',
            value: calendar?.week_starts ?? 'monday',
            options: weekdays.map((day) => ({ value: day, title: capitalized(day) })),
            isHalf: true,
          },
        ] as const)
      : []),
  ];
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
