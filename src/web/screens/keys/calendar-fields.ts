import type { CalendarMembers } from '../../../shared/money/spend-calendars.ts';
import { weekdays } from '../../../shared/time/time-zones.ts';
import { zoneName } from '../../data/preferences.ts';
import { zoneNames } from '../../data/zones.ts';
import type { Field } from '../../parts/field-types.ts';

export type CalendarField = 'zone' | 'dayStarts' | 'weekStarts';

/** Fields for when the periods of a limit begin; none for what never resets. `param` precedes their names in errors. */
export function calendarFields(
  calendar: CalendarMembers | null | undefined,
  { period, param = '' }: { period: string; param?: string },
): Field<CalendarField>[] {
  if (period === 'none' || period === 'total') return [];
  const zone = calendar?.time_zone ?? '';
  const own = zoneName();
  const first = [...new Set([own, zone])].filter((name) => name !== '' && name !== 'UTC');
  const zones = [...first, ...zoneNames().filter((name) => !first.includes(name))];
  return [
    {
      name: 'zone',
      label: 'Time zone',
      kind: 'choice',
      value: zone,
      options: [{ value: '', title: 'UTC' }, ...zones.map((name) => ({ value: name, title: name }))],
      param: `${param}time_zone`,
      isHalf: true,
    },
    {
      name: 'dayStarts',
      label: 'Days begin at',
      value: calendar?.day_starts ?? '',
      placeholder: '00:00',
      maxLength: 5,
      param: `${param}day_starts`,
      isHalf: true,
    },
    ...(period === 'week'
      ? ([
          {
            name: 'weekStarts',
            label: 'Weeks begin on',
            kind: 'choice',
            value: calendar?.week_starts ?? 'monday',
            options: weekdays.map((day) => ({ value: day, title: capitalized(day) })),
            isHalf: true,
          },
        ] as const)
      : []),
  ];
}

/** What the fields say, as endpoints take it; nothing where it is the default. */
export function calendarIn({
  zone,
  dayStarts,
  weekStarts,
}: Readonly<Partial<Record<CalendarField, string>>>) {
  const weekday = weekdays.find((day) => day === weekStarts && day !== 'monday');
  return {
    ...(zone && { time_zone: zone }),
    ...(dayStarts?.trim() && { day_starts: dayStarts.trim() }),
    ...(weekday && { week_starts: weekday }),
  };
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
