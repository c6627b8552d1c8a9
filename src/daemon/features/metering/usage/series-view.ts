import type { Distribution, LatencySeries, UsageSeries } from '../../../../shared/contract/usage.ts';
import { formatUsd } from '../../../../shared/money/money.ts';
import { isoTime } from '../../../../shared/time/time.ts';
import type { LatencyGroup, LatencyHistogram, Series } from '../store.ts';
import type { Bucketed } from './usage-reader.ts';

export function bucketsView({ buckets, isPartial }: Bucketed) {
  return {
    buckets: buckets.map(({ start, end }) => ({ start: isoTime(start), end: isoTime(end) })),
    is_partial: isPartial,
  };
}

export function seriesView({ group, isOther, points }: Series): UsageSeries {
  return {
    group,
    is_other: isOther,
    requests: points.map(({ requests }) => requests),
    rejected: points.map(({ rejected }) => rejected),
    errors: points.map(({ errors }) => errors),
    input_tokens: points.map(({ tokens }) => tokens.input),
    cached_input_tokens: points.map(({ tokens }) => tokens.cachedInput),
    output_tokens: points.map(({ tokens }) => tokens.output),
    cost_usd: points.map(({ cost }) => formatUsd(cost.total)),
    charged_usd: points.map(({ charged }) => formatUsd(charged)),
  };
}

/** Groups of which the latency is shown. */
const groupsMax = 50;

/** Those with the most calls first; with histograms, where there are few. */
export function latencyViews(
  groups: readonly LatencyGroup[],
  { hasHistograms }: { hasHistograms: boolean },
): LatencySeries[] {
  const view = (histogram: LatencyHistogram) => ({
    ...distribution(histogram),
    ...(hasHistograms && { histogram: histogramView(histogram) }),
  });
  return groups
    .map((group) => ({ group, calls: group.total.reduce((sum, histogram) => sum + callsIn(histogram), 0) }))
    .sort((a, b) => b.calls - a.calls)
    .slice(0, groupsMax)
    .map(({ group: { group, firstToken, total, tokensPerSecond, overhead } }) => ({
      group,
      first_token_ms: firstToken.map(view),
      total_ms: total.map(view),
      tokens_per_second: tokensPerSecond.map(view),
      overhead_ms: overhead.map(view),
    }));
}

function histogramView(histogram: LatencyHistogram): NonNullable<Distribution['histogram']> {
  return [...histogram]
    .sort(([a], [b]) => a - b)
    .map(([step, count]) => ({ from: rounded(2 ** (step / 4)), to: rounded(2 ** ((step + 1) / 4)), count }));
}

function callsIn(histogram: LatencyHistogram): number {
  return [...histogram.values()].reduce((sum, calls) => sum + calls, 0);
}

export function distribution(histogram: LatencyHistogram): Distribution {
  const steps = [...histogram].sort(([a], [b]) => a - b);
  const count = callsIn(histogram);
  const percentile = (share: number): number | null => {
    let left = Math.max(1, Math.ceil(count * share));
    for (const [step, calls] of steps) {
      left -= calls;
      if (left <= 0) return rounded(middleOf(step));
    }
    return null;
  };
  return { count, p50: percentile(0.5), p90: percentile(0.9), p95: percentile(0.95), p99: percentile(0.99) };
}

/** A step is a quarter of a power of two; the geometric middle is off by at most a tenth. */
function middleOf(step: number): number {
  return 2 ** ((step + 0.5) / 4);
}

/** To three digits. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
