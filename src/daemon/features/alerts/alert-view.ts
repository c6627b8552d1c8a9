import { alertUnits } from '../../../shared/constants/alert-kinds.ts';
import type { Alert, AlertDelivery, AlertFiring } from '../../../shared/contract/alerts.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { AlertCondition, AlertRecord, DeliveryRecord, FiringRecord } from './store.ts';
import { valueText } from './units.ts';

/** An alert with its latest value, firing and delivery. */
export interface KnownAlert {
  record: AlertRecord;
  /** At the last evaluation; undefined before the first one of this daemon. */
  value: number | null | undefined;
  firing: FiringRecord | undefined;
  lastDelivery: DeliveryRecord | undefined;
}

/** The API's form of an alert. */
export function alertView({ record, value, firing, lastDelivery }: KnownAlert): Alert {
  return {
    id: record.id,
    object: 'alert',
    ...conditionView(record),
    min_calls: record.minCalls,
    state: record.state,
    since: isoTime(record.since),
    value: textOf(record, value ?? null),
    message: firing?.message ?? null,
    webhook: record.hook && {
      origin: record.hook.origin,
      format: record.hook.format ?? null,
      last_delivery: lastDelivery ? deliveryView(lastDelivery) : null,
    },
    created_at: isoTime(record.createdAt),
    updated_at: isoTime(record.updatedAt),
  };
}

export function firingView({ condition, ...firing }: FiringRecord): AlertFiring {
  return {
    id: firing.id,
    object: 'alert.firing',
    alert: firing.alertId,
    ...conditionView(condition),
    value: textOf(condition, firing.value),
    message: firing.message,
    fired_at: isoTime(firing.firedAt),
    resolved_at: firing.resolvedAt === null ? null : isoTime(firing.resolvedAt),
    resolved_value: textOf(condition, firing.resolvedValue),
  };
}

export function deliveryView(delivery: DeliveryRecord): AlertDelivery {
  const { id, type, state, attempts, httpStatus, failure, createdAt } = delivery;
  return {
    id,
    object: 'alert.delivery',
    type,
    state,
    attempts,
    http_status: httpStatus,
    failure,
    created_at: isoTime(createdAt),
  };
}

/** The members of a condition that an alert, its firings and its events have in common. */
export function conditionView(condition: AlertCondition) {
  const { kind, windowMinutes, threshold, keyId: key, model, provider } = condition;
  return {
    kind,
    window_minutes: windowMinutes,
    threshold: textOf(condition, threshold),
    unit: alertUnits[kind],
    key,
    model,
    provider,
  };
}

export function textOf({ kind }: Pick<AlertCondition, 'kind'>, value: number | null): string | null {
  return value === null ? null : valueText(kind, value);
}
