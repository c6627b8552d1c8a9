import type { UsageRecord } from '../metering/index.ts';

/** In seconds: from a loopback answer to a long answer of a slow model. */
export const secondsBounds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
];

/** Counts values by their bucket; the last one is for values above all bounds. */
export class Histogram {
  readonly counts: number[] = new Array(secondsBounds.length + 1).fill(0);
  sum = 0;
  count = 0;

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < secondsBounds.length && seconds > (secondsBounds[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += seconds;
    this.count += 1;
  }
}

/** Maximum number of series; further calls are counted under `other`. */
const seriesMax = 500;
const other = 'other';

/** The calls of one endpoint, model and provider. */
export interface CallSeries {
  endpoint: string;
  model: string;
  /** Empty if no provider answered. */
  provider: string;
  statuses: Map<string, number>;
  tokens: { input: number; cachedInput: number; cacheWrite: number; output: number; reasoning: number };
  /** Nano-dollars. */
  cost: number;
  charged: number;
  firstToken: Histogram;
  duration: Histogram;
}

/** The HTTP responses of one endpoint. */
export interface HttpSeries {
  endpoint: string;
  statuses: Map<number, number>;
  aborted: number;
  duration: Histogram;
}

/** One answered request, as the server reports it. */
export interface AnsweredRequest {
  endpoint: { id: string } | undefined;
  status: number;
  durationMs: number;
  aborted: boolean;
}

/** Sums that every call updates, so that metrics cost little until they are read. */
export class Counters {
  readonly calls = new Map<string, CallSeries>();
  readonly http = new Map<string, HttpSeries>();
  /** How long settlements took to reach the disk. */
  readonly settling = new Histogram();
  /** How long calls waited for others to end; those that did not wait are not counted. */
  readonly queueing = new Histogram();
  /** By provider, then by `ok` or the error code. */
  readonly attempts = new Map<string, Map<string, number>>();
  /** Calls rejected before a provider was asked, by endpoint, then by error code. */
  readonly refusals = new Map<string, Map<string, number>>();

  /** Answers of peers that were compared with those of another source, by peer, then by outcome. */
  readonly agreements = new Map<string, Map<string, number>>();

  /** Spans by what became of them: `delivered` or `lost`. */
  readonly spanOutcomes = new Map<string, number>();

  spans(outcome: 'delivered' | 'lost', count: number): void {
    this.spanOutcomes.set(outcome, (this.spanOutcomes.get(outcome) ?? 0) + count);
  }

  /** `settledMs`: from the request until its settlement was on disk. */
  settled(usage: UsageRecord, settledMs: number): void {
    const series = this.#seriesOf(usage);
    add(series.statuses, usage.status);
    const { tokens } = series;
    tokens.input += usage.tokens.input;
    tokens.cachedInput += usage.tokens.cachedInput;
    tokens.cacheWrite += usage.tokens.cacheWrite;
    tokens.output += usage.tokens.output;
    tokens.reasoning += usage.tokens.reasoning;
    series.cost += usage.cost?.total ?? 0;
    series.charged += usage.charged;
    if (usage.ttftMs !== null) series.firstToken.observe(usage.ttftMs / 1000);
    series.duration.observe(usage.totalMs / 1000);
    this.settling.observe(Math.max(0, settledMs - usage.totalMs) / 1000);
    const { waits } = usage.trace ?? {};
    if (waits) this.queueing.observe(waits.reduce((sum, { ms }) => sum + ms, 0) / 1000);
    for (const { provider, errorCode } of usage.attempts) {
      add(group(this.attempts, provider, new Map<string, number>()), errorCode ?? 'ok');
    }
  }

  refused(endpoint: string, code: string): void {
    add(group(this.refusals, endpoint, new Map<string, number>()), code);
  }

  compared(peer: string, isSame: boolean): void {
    add(group(this.agreements, peer, new Map<string, number>()), isSame ? 'agreed' : 'disagreed');
  }

  answered({ endpoint, status, durationMs, aborted }: AnsweredRequest): void {
    const id = endpoint?.id ?? 'none';
    let series = this.http.get(id);
    if (series === undefined) {
      series = { endpoint: id, statuses: new Map(), aborted: 0, duration: new Histogram() };
      this.http.set(id, series);
    }
    add(series.statuses, status);
    if (aborted) series.aborted += 1;
    series.duration.observe(durationMs / 1000);
  }

  #seriesOf({ endpoint, model, provider }: UsageRecord): CallSeries {
    const key = `${endpoint} ${provider ?? ''} ${model}`;
    const known = this.calls.get(key);
    if (known !== undefined) return known;
    const isFull = this.calls.size >= seriesMax;
    const named = isFull
      ? newSeries(endpoint, other, provider === null ? '' : other)
      : newSeries(endpoint, model, provider ?? '');
    return group(this.calls, isFull ? `${endpoint} ${named.provider} ${other}` : key, named);
  }
}

function newSeries(endpoint: string, model: string, provider: string): CallSeries {
  return {
    endpoint,
    model,
    provider,
    statuses: new Map(),
    tokens: { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    cost: 0,
    charged: 0,
    firstToken: new Histogram(),
    duration: new Histogram(),
  };
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function group<K, V>(groups: Map<K, V>, key: K, fresh: V): V {
  const known = groups.get(key);
  if (known !== undefined) return known;
  groups.set(key, fresh);
  return fresh;
}
