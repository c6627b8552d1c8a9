import type { Limits, LimitsChange } from '../../../shared/contract/key-limits.ts';
import { calendarIn } from '../../../view/calendars.ts';
import { type Field, linesOf } from '../../parts/field-types.ts';
import { type CalendarField, calendarFields } from './calendar-fields.ts';

export type LimitField =
  | 'cap'
  | 'period'
  | 'rate'
  | 'concurrency'
  | 'queue'
  | 'input'
  | 'output'
  | 'models'
  | 'expires'
  | CalendarField;

const noLimits: Limits = {
  spend_cap: null,
  max_price: null,
  models: null,
  requests_per_minute: null,
  concurrency: null,
  queue_seconds: null,
  expires_at: null,
};

/** Fields for the limits of a key, with what they are now. */
export function limitsFields(
  limits: Limits = noLimits,
  { period = limits.spend_cap?.period ?? 'month' }: Readonly<Partial<Record<LimitField, string>>> = {},
): Field<LimitField>[] {
  const { spend_cap: cap, max_price: price, models, requests_per_minute: rate, expires_at: expires } = limits;
  const { concurrency, queue_seconds: queue } = limits;
  return [
    {
      name: 'cap',
      label: 'Spend cap',
      kind: 'amount',
      value: cap?.usd ?? '',
      placeholder: 'no cap',
      param: 'spend_cap.usd',
      isHalf: true,
    },
    {
      name: 'period',
      label: 'per',
      kind: 'choice',
      value: period,
      options: [
        { value: 'day', title: 'day' },
        { value: 'week', title: 'week' },
        { value: 'month', title: 'month' },
        { value: 'total', title: 'in all' },
      ],
      isHalf: true,
    },
    ...calendarFields(cap, { period, param: 'spend_cap.' }),
    {
      name: 'rate',
      label: 'Calls per minute',
      kind: 'number',
      value: rate === null ? '' : String(rate),
      placeholder: 'any number',
      param: 'requests_per_minute',
      isHalf: true,
    },
    {
      name: 'expires',
      label: 'Expires',
      kind: 'time',
      value: localText(expires),
      param: 'expires_at',
      isHalf: true,
    },
    {
      name: 'concurrency',
      label: 'Calls at a time',
      kind: 'number',
      value: concurrency === null ? '' : String(concurrency),
      placeholder: 'any number',
      param: 'concurrency',
      isHalf: true,
    },
    {
      name: 'queue',
      label: 'Others wait',
      kind: 'number',
      value: queue === null ? '' : String(queue),
      placeholder: '30',
      hint: 'seconds at most',
      param: 'queue_seconds',
      isHalf: true,
    },
    {
      name: 'input',
      label: 'Highest input price',
      kind: 'amount',
      value: price?.input ?? '',
      placeholder: 'any',
      hint: 'per million tokens',
      param: 'max_price.input',
      isHalf: true,
    },
    {
      name: 'output',
      label: 'Highest output price',
      kind: 'amount',
      value: price?.output ?? '',
      placeholder: 'any',
      hint: 'per million tokens',
      param: 'max_price.output',
      isHalf: true,
    },
    {
      name: 'models',
      label: 'Models',
      kind: 'lines',
      value: models?.join('\n') ?? '',
      placeholder: 'all models',
      hint: 'One a line; * stands for any characters.',
    },
  ];
}

/** What the fields say, as the endpoint takes it: empty ones clear a limit. */
export function limitsIn(values: Readonly<Record<LimitField, string>>): LimitsChange {
  const text = (value: string) => value.trim() || null;
  const [cap, input, output, rate] = [values.cap, values.input, values.output, values.rate].map(text);
  const models = linesOf(values.models);
  return {
    spend_cap: cap ? { usd: cap, period: values.period as 'day', ...calendarIn(values) } : null,
    max_price: input || output ? { input: input ?? null, output: output ?? null } : null,
    models: models.length > 0 ? models : null,
    requests_per_minute: numberOf(rate),
    concurrency: numberOf(text(values.concurrency)),
    queue_seconds: numberOf(text(values.queue)),
    expires_at: values.expires ? new Date(values.expires).toISOString() : null,
  };
}

/** What is no number is sent as it is, so that the answer says so. */
function numberOf(written: string | null | undefined): number | null {
  if (!written) return null;
  return Number.isNaN(Number(written)) ? (written as unknown as number) : Number(written);
}

/** The limits that are set, for a key that has none yet. */
export function newLimitsIn(values: Readonly<Record<LimitField, string>>): LimitsChange {
  return Object.fromEntries(Object.entries(limitsIn(values)).filter(([, value]) => value !== null));
}

/** A time as `datetime-local` has it: in the zone of the browser, to the minute. */
function localText(time: string | null): string {
  if (time === null) return '';
  const at = new Date(time);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
