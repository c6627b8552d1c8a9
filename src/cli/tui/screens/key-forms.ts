import type { Limits, LimitsChange } from '../../../shared/contract/key-limits.ts';
import { calendarIn } from '../../../view/calendars.ts';
import { futureTime } from '../../times.ts';
import { type Field, type FormValues, parsedField } from '../text/form-field.ts';
import { calendarFields } from './calendar-fields.ts';

/** In the form of a new key, the daemon names the limits as members of `limits`. */
const paramsOf = (name: string) => [name, `limits.${name}`];

const capPeriods = ['day', 'week', 'month', 'total'] as const;

/** The fields of a key's limits, filled in with those that it has. */
export function limitFields(limits?: Limits): Field[] {
  const {
    spend_cap: cap,
    max_price: price,
    models,
    requests_per_minute: rpm,
    concurrency,
    queue_seconds: queue,
    expires_at: expires,
  } = limits ?? {};
  const field = (
    name: string,
    label: string,
    { is, none, param = name, kind = 'number' }: LimitField,
  ): Field => ({
    name,
    label,
    kind,
    initial: is?.toString(),
    placeholder: none,
    params: paramsOf(param),
  });
  return [
    field('spend_cap', 'spending limit, $', { is: cap?.usd, none: 'none' }),
    { name: 'period', label: 'per', kind: 'choice', initial: cap?.period, choices: capPeriods },
    field('rpm', 'requests a minute', { is: rpm, none: 'any', param: 'requests_per_minute' }),
    field('concurrency', 'calls at a time', { is: concurrency, none: 'any' }),
    field('queue', 'others wait, seconds', { is: queue, none: '30', param: 'queue_seconds' }),
    field('models', 'models', {
      is: models?.join(' '),
      none: 'all; or names, with * for any characters: gpt-5* sim/*',
      kind: 'text',
    }),
    field('input', 'input, $ a million', { is: price?.input, none: 'any price', param: 'max_price.input' }),
    field('output', 'output, $ a million', { is: price?.output, none: 'any price', param: 'max_price' }),
    field('expires', 'expires', {
      is: expires,
      none: 'never; or 30d, 12h, 2027-01-31',
      param: 'expires_at',
      kind: 'text',
    }),
    ...calendarFields(cap, {
      params: (name) => [name, ...paramsOf(`spend_cap.${name}`)],
      isShown: (values) => Boolean(values.spend_cap),
    }),
  ];
}

interface LimitField {
  is: string | number | null | undefined;
  /** What stands where there is no limit. */
  none: string;
  param?: string;
  kind?: 'number' | 'text';
}

/** The limits that the fields describe; null where there is none. */
export function limitsIn(values: FormValues, now: () => number): Required<LimitsChange> {
  const { spend_cap: usd, period, rpm, concurrency, queue, models, input, output, expires } = values;
  const names = models?.split(/[\s,]+/).filter((name) => name !== '') ?? [];
  const found = capPeriods.find((each) => each === period);
  return {
    spend_cap: usd && found ? { usd, period: found, ...calendarIn(values) } : null,
    max_price: input || output ? { input: input || null, output: output || null } : null,
    models: names.length > 0 ? names : null,
    requests_per_minute: rpm ? Number(rpm) : null,
    concurrency: concurrency ? Number(concurrency) : null,
    queue_seconds: queue ? Number(queue) : null,
    expires_at: expires ? parsedField('expires', () => futureTime({ now })(expires)) : null,
  };
}
