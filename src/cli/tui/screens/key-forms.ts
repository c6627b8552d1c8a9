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
  return [
    {
      name: 'spend_cap',
      label: 'spending limit, $',
      kind: 'number',
      initial: cap?.usd,
      placeholder: 'none',
      params: paramsOf('spend_cap'),
    },
    {
      name: 'period',
      label: 'per',
      kind: 'choice',
      initial: cap?.period,
      choices: capPeriods,
    },
    {
      name: 'rpm',
      label: 'requests a minute',
      kind: 'number',
      initial: rpm?.toString(),
      placeholder: 'any',
      params: paramsOf('requests_per_minute'),
    },
    {
      name: 'concurrency',
      label: 'calls at a time',
      kind: 'number',
      initial: concurrency?.toString(),
      placeholder: 'any',
      params: paramsOf('concurrency'),
    },
    {
      name: 'queue',
      label: 'others wait, seconds',
      kind: 'number',
      initial: queue?.toString(),
      placeholder: '30',
      params: paramsOf('queue_seconds'),
    },
    {
      name: 'models',
      label: 'models',
      kind: 'text',
      initial: models?.join(' '),
      placeholder: 'all; or names, with * for any characters: gpt-5* sim/*',
      params: paramsOf('models'),
    },
    {
      name: 'input',
      label: 'input, $ a million',
      kind: 'number',
      initial: price?.input ?? undefined,
      placeholder: 'any price',
      params: paramsOf('max_price.input'),
    },
    {
      name: 'output',
      label: 'output, $ a million',
      kind: 'number',
      initial: price?.output ?? undefined,
      placeholder: 'any price',
      params: paramsOf('max_price'),
    },
    {
      name: 'expires',
      label: 'expires',
      kind: 'text',
      initial: expires ?? undefined,
      placeholder: 'never; or 30d, 12h, 2027-01-31',
      params: paramsOf('expires_at'),
    },
    ...calendarFields(cap, {
      params: (name) => [name, ...paramsOf(`spend_cap.${name}`)],
      isShown: (values) => Boolean(values.spend_cap),
    }),
  ];
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
