import type { Client } from '../../../shared/client.ts';
import type { Result } from '../../../shared/contract/endpoint.ts';
import type {
  Distribution,
  getUsageLatency as latencyContract,
  getUsageSeries as seriesContract,
  UsageSeries,
} from '../../../shared/contract/usage.ts';
import { getUsageLatency, getUsageSeries } from '../../../shared/endpoints.ts';
import { localZone } from '../../../shared/time/time-zones.ts';
import { allCalls, errorsPerBucket, figuresOf } from '../../../view/usage.ts';
import { sumUsage } from '../../commands/usage.ts';

/** How far back the figures go, and how long the bars of their charts are. */
export interface Period {
  name: string;
  words: string;
  ms: number;
  bucket: '15m' | 'hour' | 'day';
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export const periods = [
  { name: '1h', words: 'hour', ms: hourMs, bucket: '15m' },
  { name: '24h', words: '24 hours', ms: dayMs, bucket: 'hour' },
  { name: '7d', words: '7 days', ms: 7 * dayMs, bucket: 'hour' },
  { name: '30d', words: '30 days', ms: 30 * dayMs, bucket: 'day' },
] as const satisfies Period[];

/** The period that is shown first: a day. */
export const firstPeriod = 1;

/** Totals of a period; null where they are not known. */
export interface Figures {
  requests: number;
  rejected: number;
  /** Requests that failed or were interrupted. */
  errors: number;
  costUsd: string;
  tokens: number;
  firstTokenMs: number | null;
  totalMs: number | null;
}

/** A model, a key or an error code, with its part of the period. */
export interface TopGroup {
  kind: 'model' | 'key' | 'error';
  /** Null for logins, or for all that are not among the first. */
  group: string | null;
  isOther: boolean;
  requests: number;
  rejected: number;
  errors: number;
  tokens: number;
  costUsd: string;
  /** Of the cost of all calls, or of their number if none cost anything, and of errors: from 0 to 1. */
  share: number;
  /** The same of the largest of its kind, as bars show it. */
  barShare: number;
  /** The cost in each bucket. */
  costs: number[];
}

/** What the Overview shows. */
export interface Overview {
  period: Period;
  /** Where the buckets begin and end, in ISO 8601. */
  buckets: readonly { start: string; end: string }[];
  now: Figures;
  /** Of the time before, which is as long. */
  before: Figures;
  /** In dollars, by bucket. */
  costs: number[];
  /** Calls that failed or were rejected. */
  errors: number[];
  firstToken: Curves;
  tops: TopGroup[];
}

interface Curves {
  buckets: readonly { start: string; end: string }[];
  p50: (number | null)[];
  p95: (number | null)[];
}

const topGroups = 4;
const failed = new Set(['failed', 'interrupted']);

/** Reads the figures of a period. Its first bucket is whole, so that all parts add up to the totals. */
export async function loadOverview(client: Client, now: number, period: Period): Promise<Overview> {
  const since = new Date(now - period.ms).toISOString();
  const tz = localZone();
  const range = { since, bucket: period.bucket, tz };
  const series = (group?: TopGroup['kind']) =>
    client.call(getUsageSeries, { query: { ...range, group_by: group, top: topGroups } });
  const latency = (query: Parameters<typeof client.call<typeof latencyContract>>[1]['query']) =>
    // A key may lack the scope for it; then the rest is shown.
    client.call(getUsageLatency, { query }).catch(() => undefined);
  const all = await series();
  const start = Date.parse(all.buckets[0]?.start ?? since);
  const from = new Date(start).toISOString();
  const earlier = { since: new Date(2 * start - now).toISOString(), until: from };
  const [models, keys, failures, before, total, totalBefore, byBucket] = await Promise.all([
    series('model'),
    series('key'),
    // A key has none, and a daemon of an earlier version.
    series('error').catch(() => undefined),
    sumUsage(client, { ...earlier, group_by: 'status' }),
    latency({ since: from }),
    latency(earlier),
    latency({ since: from, tz, bucket: period.bucket === 'day' ? 'day' : 'hour' }),
  ]);
  const [whole] = all.series;
  return {
    period,
    buckets: all.buckets,
    now: { ...sumsOf(whole), ...percentilesOf(total) },
    before: {
      requests: before.total.requests,
      rejected: before.total.rejected ?? 0,
      errors: before.data.reduce(
        (sum, { group, requests }) => sum + (failed.has(group ?? '') ? requests : 0),
        0,
      ),
      costUsd: before.total.cost.total_usd,
      tokens: before.total.tokens.input + before.total.tokens.output,
      ...percentilesOf(totalBefore),
    },
    costs: (whole?.cost_usd ?? []).map(Number),
    errors: whole ? errorsPerBucket(whole) : [],
    firstToken: curvesOf(byBucket),
    tops: [
      ...topsOf('model', models),
      ...topsOf('key', keys),
      ...(failures ? topsOf('error', failures) : []),
    ],
  };
}

type Sums = Pick<Figures, 'requests' | 'rejected' | 'errors' | 'costUsd' | 'tokens'>;

function sumsOf(series: UsageSeries | undefined): Sums {
  const { requests, rejected, errors, costUsd, input, output } = figuresOf(series);
  return { requests, rejected, errors, costUsd, tokens: input + output };
}

function percentilesOf(
  latency: Result<typeof latencyContract> | undefined,
): Pick<Figures, 'firstTokenMs' | 'totalMs'> {
  const [series] = latency?.series ?? [];
  return {
    firstTokenMs: series?.first_token_ms[0]?.p95 ?? null,
    totalMs: series?.total_ms[0]?.p95 ?? null,
  };
}

function curvesOf(latency: Result<typeof latencyContract> | undefined): Curves {
  const distributions: readonly Distribution[] = latency?.series[0]?.first_token_ms ?? [];
  return {
    buckets: latency?.buckets ?? [],
    p50: distributions.map(({ p50 }) => p50),
    p95: distributions.map(({ p95 }) => p95),
  };
}

function topsOf(kind: TopGroup['kind'], { series }: Result<typeof seriesContract>): TopGroup[] {
  const groups = series.map((one) => ({ one, sums: sumsOf(one) })).filter(({ sums }) => allCalls(sums) > 0);
  // Errors are ranked by how often they come.
  const isFree = kind === 'error' || groups.every(({ sums }) => Number(sums.costUsd) === 0);
  const weightOf = (sums: Sums) => (isFree ? allCalls(sums) : Number(sums.costUsd));
  const weights = groups.map(({ sums }) => weightOf(sums));
  const [all, most] = [weights.reduce((sum, weight) => sum + weight, 0), Math.max(0, ...weights)];
  groups.sort(
    (a, b) => Number(a.one.is_other) - Number(b.one.is_other) || weightOf(b.sums) - weightOf(a.sums),
  );
  return groups.map(({ one, sums }) => ({
    kind,
    group: one.group,
    isOther: one.is_other,
    ...sums,
    share: all === 0 ? 0 : weightOf(sums) / all,
    barShare: most === 0 ? 0 : weightOf(sums) / most,
    costs: one.cost_usd.map(Number),
  }));
}
