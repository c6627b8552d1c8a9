/** What an alert watches, and the unit of its threshold and values; without a threshold, the unit is null. */
export const alertUnits = {
  spend: 'usd',
  error_share: 'percent',
  p95_total: 'ms',
  p95_first_token: 'ms',
  rejections: 'calls',
  benched: null,
  silence: null,
} as const;

export type AlertKind = keyof typeof alertUnits;
export type AlertUnit = NonNullable<(typeof alertUnits)[AlertKind]>;

export const alertKinds = Object.keys(alertUnits) as AlertKind[];

const latencyKinds: readonly AlertKind[] = ['p95_total', 'p95_first_token'];

/** Whether an alert is about latency, which is counted by the hour. */
export function isLatency(kind: AlertKind): boolean {
  return latencyKinds.includes(kind);
}

/** Whether an alert needs a minimum number of calls, as a share or a percentile of few calls says little. */
export function isOfManyCalls(kind: AlertKind): boolean {
  return kind === 'error_share' || isLatency(kind);
}

/** The windows that an alert can have, in minutes: multiples of the time by which its calls are counted. */
export function alertWindow(kind: AlertKind): { step: number; max: number } {
  return isLatency(kind) ? { step: 60, max: 24 * 60 } : { step: 15, max: 7 * 24 * 60 };
}
