import {
  type AlertKind,
  alertUnits,
  alertWindow,
  isOfManyCalls,
} from '../../../shared/constants/alert-kinds.ts';
import { webhookFormats } from '../../../shared/constants/webhook-formats.ts';
import type { Alert, AlertCondition } from '../../../shared/contract/alerts.ts';
import { alertTitles } from '../../../view/alerts.ts';
import { duration } from '../../../view/durations.ts';
import { type Field, idField } from '../../parts/field-types.ts';

export type AlertField =
  | 'id'
  | 'kind'
  | 'threshold'
  | 'window'
  | 'calls'
  | 'key'
  | 'model'
  | 'provider'
  | 'webhook'
  | 'format';

const unitTitles = { usd: 'dollars', percent: 'percent', ms: 'milliseconds', calls: 'calls' } as const;

/** Fields for a new alert, or for what one is now. `keys` are those that it can be about. */
export function alertFormFields(
  alert: Alert | undefined,
  keys: readonly { id: string; name: string }[],
  { kind: chosen = alert?.kind ?? 'spend', key = alert?.key ?? '' }: { kind?: string; key?: string },
): Field<AlertField>[] {
  const kind = chosen as AlertKind;
  const unit = alertUnits[kind];
  const { step, max } = alertWindow(kind);
  const windows = [15, 30, 60, 180, 360, 720, 1440, 4320, 10_080, alert?.window_minutes ?? 60];
  const allowed = [...new Set(windows)].filter((minutes) => minutes % step === 0 && minutes <= max);
  const limits: Field<AlertField>[] = [
    ...(unit === null
      ? []
      : [
          {
            name: 'threshold' as const,
            label: `Fires from (${unitTitles[unit]})`,
            kind: 'number' as const,
            value: alert?.kind === kind ? (alert.threshold ?? '') : '',
            isRequired: true,
            isHalf: true,
          },
        ]),
    {
      name: 'window',
      label: 'Within the last',
      kind: 'choice',
      value: String(
        allowed.includes(alert?.window_minutes ?? 60) ? (alert?.window_minutes ?? 60) : allowed[0],
      ),
      options: allowed
        .sort((a, b) => a - b)
        .map((minutes) => ({ value: String(minutes), title: duration(minutes * 60_000) })),
      param: 'window_minutes',
      isHalf: true,
    },
  ];
  const text = (name: 'model' | 'provider', label: string): Field<AlertField> => ({
    name,
    label,
    value: alert?.[name] ?? '',
    placeholder: 'any',
    maxLength: 256,
    isHalf: true,
  });
  return [
    idField(alert?.id, 'slow-answers'),
    {
      name: 'kind',
      label: 'Watches',
      kind: 'choice',
      value: kind,
      options: Object.entries(alertTitles).map(([value, title]) => ({ value, title })),
    },
    ...limits,
    ...(isOfManyCalls(kind)
      ? [
          {
            name: 'calls' as const,
            label: 'With at least so many calls',
            kind: 'number' as const,
            value: String(alert?.min_calls ?? 20),
            param: 'min_calls',
            isHalf: true,
          },
        ]
      : []),
    {
      name: 'key',
      label: 'Key',
      kind: 'choice',
      value: alert?.key ?? '',
      options: [
        { value: '', title: 'any' },
        ...keys.map(({ id, name }) => ({ value: id, title: name || id })),
      ],
      isHalf: true,
    },
    ...(key === '' ? [text('model', 'Model'), text('provider', 'Provider')] : []),
    {
      name: 'webhook',
      label: 'Web hook',
      placeholder: alert?.webhook ? `${alert.webhook.origin}/…` : 'https://hooks.example/…',
      hint: alert?.webhook
        ? 'Empty leaves it; - removes it.'
        : 'Gets a signed POST when it fires and when it resolves.',
      maxLength: 2048,
      param: 'webhook_url',
    },
    {
      name: 'format',
      label: 'Message format',
      kind: 'choice',
      value: alert?.webhook?.format ?? '',
      options: [
        { value: '', title: 'as the address tells' },
        ...webhookFormats.map((value) => ({ value, title: value })),
      ],
      param: 'webhook_format',
      isHalf: true,
    },
  ];
}

/** The condition that the fields say, as the endpoint takes it. */
export function conditionIn(values: Readonly<Partial<Record<AlertField, string>>>): AlertCondition {
  const { kind, threshold, window, calls, key, model, provider } = values;
  const text = (value: string | undefined) => value?.trim() || undefined;
  const named = { threshold: text(threshold), key: text(key), model: text(model), provider: text(provider) };
  return {
    kind: kind as AlertKind,
    window_minutes: Number(window),
    ...(text(calls) && { min_calls: Number(calls) }),
    ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
  };
}
