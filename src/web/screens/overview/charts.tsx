import { useMemo } from 'preact/hooks';
import type { Result } from '../../../shared/contract/endpoint.ts';
import type {
  getUsageLatency as usageLatency,
  getUsageSeries as usageSeries,
} from '../../../shared/contract/usage.ts';
import { getUsageLatency, getUsageSeries } from '../../../shared/endpoints.ts';
import { duration } from '../../../view/durations.ts';
import { briefCount, sum } from '../../../view/numbers.ts';
import { callsPerBucket, errorsPerBucket, hasCalls, isFree } from '../../../view/usage.ts';
import type { CallValue } from '../../data/calls-query.ts';
import type { Period } from '../../data/period.ts';
import { type Query, useQuery } from '../../data/query.ts';
import { route, setQuery } from '../../data/route.ts';
import { Chart } from '../../parts/chart.tsx';
import {
  bucketsFor,
  type ChartData,
  callsOfSeries,
  stackedSeries,
  type Tone,
} from '../../parts/chart-data.ts';
import { Choice } from '../../parts/choice.tsx';
import { Panel } from '../../parts/panel.tsx';

type Series = Result<typeof usageSeries>;

const modelName = (model: string | null) => model ?? 'no model';

/** Cost or calls, stacked by model; a click leads to the calls of the model in that time. */
export function SpendPanel({ query, timeZone }: { query: Query<Series>; timeZone: string }) {
  const { data } = query;
  const chosen = route.value.query.get('by');
  const measure = chosen === 'calls' || (chosen !== 'cost' && isFree(data?.series ?? [])) ? 'calls' : 'cost';
  const chart = useMemo(
    () =>
      data &&
      stackedSeries(data, { measure, timeZone, nameOf: modelName, filtersOf: (model) => ({ model }) }),
    [data, measure, timeZone],
  );
  return (
    <Panel
      title={measure === 'cost' ? 'Cost by model' : 'Calls by model'}
      class="is-wide"
      queries={[query]}
      tools={
        <Choice
          label="Measure"
          options={[
            { value: 'cost', title: 'Cost' },
            { value: 'calls', title: 'Calls' },
          ]}
          value={measure}
          onChange={(value) => setQuery({ by: value })}
        />
      }
    >
      {chart && hasCalls(data?.series ?? []) && (
        <Chart title={measure === 'cost' ? 'Cost by model' : 'Calls by model'} data={chart} />
      )}
      {chart && !hasCalls(data?.series ?? []) && <p class="quiet">No calls.</p>}
    </Panel>
  );
}

interface PeriodProps {
  period: Period;
  timeZone: string;
}

const latencies = { first: 'First token', total: 'Total' } as const;

/** How long half and 95 of 100 answers took. */
export function LatencyPanel({ period, timeZone }: PeriodProps) {
  const { since, until, latencyBucket } = period;
  const query = useQuery(getUsageLatency, {
    query: { since, until, bucket: latencyBucket, tz: timeZone },
  });
  const measure = route.value.query.get('latency') === 'total' ? 'total' : 'first';
  const { data } = query;
  const chart = useMemo(() => data && latencyChart(data, measure, timeZone), [data, measure, timeZone]);
  const isKnown = chart?.series.some(({ values }) => values.some((value) => value !== null));
  return (
    <Panel
      title={`${latencies[measure]}, p50 and p95`}
      class="is-half"
      queries={[query]}
      tools={
        <Choice
          label="Latency"
          options={Object.entries(latencies).map(([value, title]) => ({
            value: value as keyof typeof latencies,
            title,
          }))}
          value={measure}
          onChange={(value) => setQuery({ latency: value === 'first' ? undefined : value })}
        />
      }
    >
      {chart && isKnown && <Chart title={`${latencies[measure]}, p50 and p95`} data={chart} />}
      {chart && !isKnown && <p class="quiet">No answers.</p>}
    </Panel>
  );
}

function latencyChart(
  data: Result<typeof usageLatency>,
  measure: keyof typeof latencies,
  timeZone: string,
): ChartData {
  const [series] = data.series;
  const values = (measure === 'first' ? series?.first_token_ms : series?.total_ms) ?? [];
  const line = (label: 'p50' | 'p95', tone: Tone) => ({ label, tone, values: values.map((it) => it[label]) });
  return {
    kind: 'lines',
    buckets: bucketsFor(data.buckets, data.bucket ?? 'hour', timeZone),
    series: [line('p50', 0), line('p95', 2)],
    format: duration,
    timeZone,
  };
}

const failures = {
  error: {
    choice: 'Error',
    title: 'Failed and rejected calls by error',
    none: 'No call failed or was rejected.',
  },
  status: {
    choice: 'Status',
    title: 'Failed, rejected and canceled calls',
    none: 'No call failed, was rejected or canceled.',
  },
} as const;

/** Failed and rejected calls over time by error code, or with those that were canceled by status. */
export function ErrorsPanel({ period, timeZone }: PeriodProps) {
  const { since, until, bucket } = period;
  const by = route.value.query.get('failures') === 'status' ? 'status' : 'error';
  const query = useQuery(getUsageSeries, {
    query: { since, until, bucket, tz: timeZone, group_by: by, top: errorsShown },
  });
  const { data } = query;
  const chart = useMemo(
    () => data && (by === 'error' ? errorChart(data, timeZone) : statusChart(data, timeZone)),
    [data, by, timeZone],
  );
  const { title, none } = failures[by];
  return (
    <Panel
      title={title}
      class="is-half"
      queries={[query]}
      tools={
        <Choice
          label="Failures by"
          options={Object.entries(failures).map(([value, { choice }]) => ({
            value: value as keyof typeof failures,
            title: choice,
          }))}
          value={by}
          onChange={(value) => setQuery({ failures: value === 'error' ? undefined : value })}
        />
      }
    >
      {chart && chart.series.length === 0 && <p class="quiet">{none}</p>}
      {chart && chart.series.length > 0 && <Chart title={title} data={chart} />}
    </Panel>
  );
}

/** The chart has eight colours. */
const errorsShown = 7;

/** How often each error code came, whether calls failed with it or were rejected. */
function errorChart(data: Series, timeZone: string): ChartData {
  // All calls of a series have an error code, and those of the others as well.
  const filtersOf = (error: CallValue) => ({
    error:
      error !== null && typeof error === 'object' && 'not' in error ? { not: [...error.not, null] } : error,
  });
  const chart = stackedSeries(data, { measure: 'errors', timeZone, filtersOf });
  const errors = data.series.map((one) => errorsPerBucket(one));
  const callsOf = callsOfSeries(data, { measure: 'calls', filtersOf });
  return {
    ...chart,
    series: chart.series.map((series, at) => ({ ...series, values: errors[at] ?? [] })),
    callsOf: (bucket, at) => ({ ...callsOf(bucket, at), calls: errors[at]?.[bucket] ?? 0 }),
  };
}

const errorTones: Readonly<Record<string, Tone>> = {
  failed: 'bad',
  interrupted: 2,
  rejected: 'rejected',
  canceled: 'other',
};

function statusChart(data: Series, timeZone: string): ChartData {
  const shown = data.series.filter(
    (one) => one.group !== null && one.group in errorTones && sum(callsPerBucket(one)) > 0,
  );
  const series = shown.map((one) => ({
    label: one.group ?? '',
    tone: errorTones[one.group ?? ''] ?? ('other' as const),
    values: callsPerBucket(one),
  }));
  return {
    kind: 'bars',
    buckets: bucketsFor(data.buckets, data.bucket, timeZone),
    series,
    format: briefCount,
    isCount: true,
    callsOf: callsOfSeries(
      { ...data, series: shown },
      { measure: 'calls', filtersOf: (status) => ({ status }) },
    ),
    timeZone,
  };
}
