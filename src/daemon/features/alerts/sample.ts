import { type AlertKind, isLatency, isOfManyCalls } from '../../../shared/constants/alert-kinds.ts';
import { distribution, type LatencyHistogram } from '../metering/index.ts';
import type { AlertCondition, AlertState } from './store.ts';

/** What one alert measures in a period; samples of adjoining periods add up. */
export interface Sample {
  calls: number;
  /** Nano-dollars, failed calls or rejected calls, by the kind. */
  amount: number;
  latency: LatencyHistogram;
  /** Benched providers, or their models. */
  benched: ReadonlySet<string>;
}

export const noSample: Sample = { calls: 0, amount: 0, latency: new Map(), benched: new Set() };

export function addedUp(samples: readonly Sample[]): Sample {
  const latency: LatencyHistogram = new Map();
  for (const sample of samples)
    for (const [step, calls] of sample.latency) latency.set(step, (latency.get(step) ?? 0) + calls);
  return {
    calls: samples.reduce((sum, { calls }) => sum + calls, 0),
    amount: samples.reduce((sum, { amount }) => sum + amount, 0),
    latency,
    benched: new Set(samples.flatMap(({ benched }) => [...benched])),
  };
}

/** How far below its threshold a value has to fall before an alert resolves, in percent, so that it does not flap. */
const resolvedBelow = 90;

/**
 * The value of a sample in the unit of the kind; null if there are too few calls to say. An alert that fires needs one call to go
 * on, so that calls that become rare do not resolve it.
 */
export function measuredValue(
  { kind, minCalls }: Pick<AlertCondition, 'kind' | 'minCalls'>,
  { calls, amount, latency, benched }: Sample,
  state: AlertState,
): number | null {
  if (kind === 'benched') return benched.size;
  if (kind === 'silence') return calls;
  if (!isOfManyCalls(kind)) return amount;
  const { count, p95 } = distribution(latency);
  const counted = isLatency(kind) ? count : calls;
  if (counted < (state === 'firing' ? 1 : minCalls)) return null;
  return isLatency(kind) ? Math.round(p95 ?? 0) : Math.round((amount * 10_000) / calls);
}

/** The state that follows from a value. */
export function stateAfter(
  { kind, threshold }: { kind: AlertKind; threshold: number | null },
  value: number | null,
  state: AlertState,
): AlertState {
  if (value === null) return 'ok';
  if (kind === 'silence') return value === 0 ? 'firing' : 'ok';
  const most = threshold ?? 1;
  const isOver = state === 'firing' ? value * 100 >= most * resolvedBelow : value >= most;
  return isOver ? 'firing' : 'ok';
}
