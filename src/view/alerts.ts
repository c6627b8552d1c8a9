import type { Alert } from '../shared/contract/alerts.ts';
import { ago, span } from './durations.ts';
import type { Field } from './field.ts';
import { type KeyNames, keyText } from './key-names.ts';
import { dollars } from './money.ts';
import { count, points } from './numbers.ts';

interface AlertContext {
  now: number;
  keyNames: KeyNames;
}

/** What alerts look at. */
export const alertTitles: Readonly<Record<Alert['kind'], string>> = {
  spend: 'Spending',
  error_share: 'Share of failed calls',
  p95_total: 'Duration of answers, p95',
  p95_first_token: 'First token, p95',
  rejections: 'Rejected calls',
  benched: 'A provider is benched',
  silence: 'No calls',
};

/** A value in the unit of an alert: `$5`, `5 %`, `8 s`, `12 calls`; `–` without one. */
export function alertValue(value: string | null, unit: string | null): string {
  if (value === null) return '–';
  if (unit === 'usd') return dollars(value);
  if (unit === 'percent') return points(Number(value));
  if (unit === 'ms') return span(Number(value));
  return unit === 'calls' ? `${count(Number(value))} ${value === '1' ? 'call' : 'calls'}` : value;
}

/** What an alert has. */
export const alertFields: readonly Field<Alert, AlertContext>[] = [
  { name: 'id', label: 'alert', value: ({ id }) => id },
  {
    name: 'state',
    value: ({ state }) => state,
    tone: ({ state }) => (state === 'firing' ? 'bad' : 'good'),
  },
  { name: 'since', value: ({ since }) => since, text: ({ since }, { now }) => ago(since, now) },
  { name: 'kind', value: ({ kind }) => kind },
  {
    name: 'value',
    value: ({ value }) => value,
    text: ({ value, unit }) => alertValue(value, unit),
  },
  {
    name: 'threshold',
    value: ({ threshold }) => threshold,
    text: ({ threshold, unit }) => alertValue(threshold, unit),
  },
  {
    name: 'window_minutes',
    label: 'window',
    value: ({ window_minutes: minutes }) => minutes,
    text: ({ window_minutes: minutes }) => span(minutes * 60_000),
  },
  {
    name: 'of',
    value: ({ key, model, provider }) =>
      [key, model, provider && `at ${provider}`].filter(Boolean).join(' ') || 'all calls',
    text: ({ key, model, provider }, { keyNames }) =>
      [key && `key ${keyText(key, keyNames)}`, model, provider && `at ${provider}`]
        .filter(Boolean)
        .join(' ') || 'all calls',
  },
];
