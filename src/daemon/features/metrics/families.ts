import { type CallSeries, type Counters, type Histogram, secondsBounds } from './counters.ts';

export type Labels = Record<string, string | number>;

export interface Sample {
  labels: Labels;
  value: number;
  /** The sample's name if it differs from the family's. */
  metricName?: string;
}

/** All samples of one metric. Names follow Prometheus: base units, and `_total` for counters. */
export interface Family {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  values: Sample[];
}

/** Values that are read on request. */
export interface Gauges {
  callsRunning: number;
  requestsRunning: number;
  streamsOpen: number;
  eventFollowers: number;
  writesWaiting: number;
  /** Calls that each worker has admitted; none without workers. */
  callsOfWorkers: readonly number[];
  isWritable: boolean;
  providers: { name: string; isAvailable: boolean }[];
  benches: { provider: string; model: string; reason: string }[];
  /** Limits of concurrent calls that apply to calls now. */
  limits: readonly { kind: string; name: string; running: number; waiting: number }[];
}

const nano = 1e9;

export function families(counters: Counters, gauges: Gauges): Family[] {
  return [...callFamilies([...counters.calls.values()]), ...otherCounts(counters), ...gaugeFamilies(gauges)];
}

function callFamilies(calls: CallSeries[]): Family[] {
  const counted = (
    name: string,
    help: string,
    valuesOf: (series: CallSeries, labels: Labels) => Sample[],
  ) => ({
    name,
    help,
    type: 'counter' as const,
    values: calls.flatMap((series) => valuesOf(series, labelsOf(series))),
  });
  return [
    counted('gateway_calls_total', 'Finished model calls.', ({ statuses }, labels) =>
      [...statuses].map(([status, value]) => ({ labels: { ...labels, status }, value })),
    ),
    counted('gateway_tokens_total', 'Tokens by kind; input includes cached tokens.', ({ tokens }, labels) => [
      { labels: { ...labels, kind: 'input' }, value: tokens.input },
      { labels: { ...labels, kind: 'cached_input' }, value: tokens.cachedInput },
      { labels: { ...labels, kind: 'cache_write' }, value: tokens.cacheWrite },
      { labels: { ...labels, kind: 'output' }, value: tokens.output },
      { labels: { ...labels, kind: 'reasoning' }, value: tokens.reasoning },
    ]),
    counted('gateway_cost_usd_total', 'Cost of calls in dollars, including margin.', ({ cost }, labels) => [
      { labels, value: cost / nano },
    ]),
    counted('gateway_charged_usd_total', 'Amounts charged to callers, in dollars.', ({ charged }, labels) => [
      { labels, value: charged / nano },
    ]),
    {
      name: 'gateway_call_first_token_seconds',
      help: 'Time from the request to the first byte of the answer.',
      type: 'histogram',
      values: calls.flatMap((it) =>
        histogram('gateway_call_first_token_seconds', labelsOf(it), it.firstToken),
      ),
    },
    {
      name: 'gateway_call_duration_seconds',
      help: 'Time from the request to the end of the answer.',
      type: 'histogram',
      values: calls.flatMap((it) => histogram('gateway_call_duration_seconds', labelsOf(it), it.duration)),
    },
  ];
}

const labelsOf = ({ endpoint, model, provider }: CallSeries): Labels => ({ endpoint, model, provider });

function otherCounts(counters: Counters): Family[] {
  const { http, attempts, refusals, settling, queueing, agreements, spanOutcomes } = counters;
  const queued = 'gateway_queue_wait_seconds';
  const duration = 'gateway_http_request_duration_seconds';
  const settled = 'gateway_settlement_duration_seconds';
  return [
    {
      name: settled,
      help: 'Time from the end of an answer until its settlement was on disk.',
      type: 'histogram',
      values: histogram(settled, {}, settling),
    },
    {
      name: queued,
      help: 'How long calls that had to wait waited for others to end.',
      type: 'histogram',
      values: histogram(queued, {}, queueing),
    },
    {
      name: 'gateway_attempts_total',
      help: 'Attempts at providers, by outcome.',
      type: 'counter',
      values: nested(attempts, (provider, outcome) => ({ provider, outcome })),
    },
    {
      name: 'gateway_calls_refused_total',
      help: 'Model calls that were rejected before a provider was asked.',
      type: 'counter',
      values: nested(refusals, (endpoint, code) => ({ endpoint, code })),
    },
    {
      name: 'gateway_spans_total',
      help: 'Spans for the collector, by outcome; none without one.',
      type: 'counter',
      values: [...spanOutcomes].map(([outcome, value]) => ({ labels: { outcome }, value })),
    },
    {
      name: 'gateway_peer_answers_compared_total',
      help: 'Answers of peers that were compared with those of another source.',
      type: 'counter',
      values: nested(agreements, (peer, outcome) => ({ peer, outcome })),
    },
    {
      name: 'gateway_http_requests_total',
      help: 'Answered requests by endpoint and status.',
      type: 'counter',
      values: [...http.values()].flatMap(({ endpoint, statuses }) =>
        [...statuses].map(([status, value]) => ({ labels: { endpoint, status }, value })),
      ),
    },
    {
      name: 'gateway_http_requests_aborted_total',
      help: 'Requests whose client left before the answer was complete.',
      type: 'counter',
      values: [...http.values()].map(({ endpoint, aborted }) => ({ labels: { endpoint }, value: aborted })),
    },
    {
      name: duration,
      help: 'From the head of a request until the end of its answer.',
      type: 'histogram',
      values: [...http.values()].flatMap((it) => histogram(duration, { endpoint: it.endpoint }, it.duration)),
    },
  ];
}

function gaugeFamilies(now: Gauges): Family[] {
  const gauge = (name: string, help: string, values: Sample[]): Family => ({
    name,
    help,
    type: 'gauge',
    values,
  });
  const one = (value: number): Sample[] => [{ labels: {}, value }];
  return [
    gauge('gateway_calls_running', 'Model calls whose money is set aside.', one(now.callsRunning)),
    gauge('gateway_http_requests_running', 'Requests on their way.', one(now.requestsRunning)),
    gauge('gateway_streams_open', 'Answers that are streaming now.', one(now.streamsOpen)),
    gauge('gateway_event_followers', 'Readers of the events.', one(now.eventFollowers)),
    {
      name: 'gateway_worker_calls_total',
      help: 'Model calls that each worker has admitted.',
      type: 'counter',
      values: now.callsOfWorkers.map((value, index) => ({ labels: { worker: String(index + 1) }, value })),
    },
    gauge('gateway_storage_writes_waiting', 'Writes that are not on disk yet.', one(now.writesWaiting)),
    gauge('gateway_storage_writable', 'Whether storage takes writes.', one(now.isWritable ? 1 : 0)),
    gauge(
      'gateway_provider_available',
      'Whether calls go to the provider.',
      now.providers.map(({ name, isAvailable }) => ({
        labels: { provider: name },
        value: isAvailable ? 1 : 0,
      })),
    ),
    gauge(
      'gateway_provider_benched',
      'Providers, or one model of them, that are left alone for a while.',
      now.benches.map((labels) => ({ labels, value: 1 })),
    ),
    gauge(
      'gateway_queue_running',
      'Calls that run within limits of concurrent calls; those of keys together.',
      queueSamples(now, 'running'),
    ),
    gauge(
      'gateway_queue_waiting',
      'Calls that wait for others to end, by what they wait for; those of keys together.',
      queueSamples(now, 'waiting'),
    ),
  ];
}

/** There may be any number of keys. */
function queueSamples({ limits }: Gauges, count: 'running' | 'waiting'): Sample[] {
  const sums = new Map<string, Sample>();
  for (const limit of limits) {
    const labels = { limit: limit.kind, name: limit.kind === 'key' ? '' : limit.name };
    const id = `${labels.limit} ${labels.name}`;
    const sample = sums.get(id) ?? { labels, value: 0 };
    sample.value += limit[count];
    sums.set(id, sample);
  }
  return [...sums.values()];
}

function nested(counts: Map<string, Map<string, number>>, labels: (outer: string, inner: string) => Labels) {
  return [...counts].flatMap(([outer, inners]) =>
    [...inners].map(([inner, value]) => ({ labels: labels(outer, inner), value })),
  );
}

function histogram(name: string, labels: Labels, { counts, sum, count }: Histogram): Sample[] {
  let below = 0;
  const buckets = counts.map((here, place) => {
    below += here;
    const le = secondsBounds[place] ?? '+Inf';
    return { labels: { ...labels, le }, value: below, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ];
}
