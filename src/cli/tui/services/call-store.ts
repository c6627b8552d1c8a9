import type { EventView } from '../../../shared/contract/events.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';

/** A request as the traffic list shows it. */
export interface CallRow {
  id: string;
  /** Milliseconds since 1970: when it arrived, or when it was first seen. */
  at: number;
  /** `running`, or the final status. */
  status: string;
  errorCode: string | null;
  model: string;
  provider: string | null;
  key: string | null;
  endpoint: string;
  inputTokens: number;
  outputTokens: number;
  costUsd: string | null;
  ttftMs: number | null;
  totalMs: number | null;
  /** Why it was rejected or failed, and how many similar requests were rejected before it and have no row. */
  reason: string | null;
  more: number;
  /** Of an unknown caller. */
  address: string | null;
}

/** Older requests are dropped. */
export const callsMax = 1000;
const bucketMs = 5000;
const bucketsMax = 120;

interface Bucket {
  /** Counted from 1970. */
  number: number;
  finished: number;
  failed: number;
}

/** Whether an event is the last one of a request. */
export function isEndOfRequest(type: string): boolean {
  return /^request\.(completed|failed|rejected)$/.test(type);
}

/** The last requests of a workspace, live and past, in bounded memory. */
export class CallStore {
  readonly #calls = new Map<string, CallRow>();
  readonly #buckets: Bucket[] = [];
  #sorted: CallRow[] | undefined;
  /** Requests that finished before this time, in milliseconds since 1970, may be missing. */
  #isCompleteFrom = 0;

  /** Newest first. */
  rows(): CallRow[] {
    this.#sorted ??= [...this.#calls.values()].sort((one, other) => other.at - one.at);
    return this.#sorted;
  }

  get(id: string): CallRow | undefined {
    return this.#calls.get(id);
  }

  running(): number {
    return this.rows().filter(({ status }) => status === 'running').length;
  }

  /** Applies one event of the stream; true if it changed anything. */
  apply({ type, created_at, data }: EventView): boolean {
    const id = data.request_id;
    if (typeof id !== 'string' || !type.startsWith('request.')) return false;
    const at = Date.parse(created_at);
    const before = this.#calls.get(id);
    const isEnd = isEndOfRequest(type);
    // A late event of a request that has already ended adds nothing.
    if (before && before.status !== 'running' && !isEnd) return false;
    const row = rowOf(id, data, { before, at, isEnd });
    if (isEnd && (!before || before.status === 'running')) this.#count(at, row);
    this.#keep(row);
    return true;
  }

  /** Adds finished requests that the stream missed, newest first; `hasMore` if there are older ones. */
  backfill(traces: TraceView[], { hasMore }: { hasMore: boolean }): void {
    const oldest = traces.at(-1);
    if (hasMore && oldest) this.#isCompleteFrom = Date.parse(oldest.completed_at);
    for (const trace of traces) {
      const before = this.#calls.get(trace.request_id);
      if (before && before.status !== 'running') continue;
      const row = rowOfTrace(trace);
      this.#count(Date.parse(trace.completed_at), row);
      this.#keep(row);
    }
  }

  /** How many requests finished in each of the last `count` five-second buckets, newest last; `isPartial` if there were more. */
  histogram(now: number, count: number): { finished: number[]; failed: number; isPartial: boolean } {
    const last = Math.floor(now / bucketMs);
    const finished = Array.from({ length: count }, () => 0);
    let failed = 0;
    for (const bucket of this.#buckets) {
      const index = count - 1 - (last - bucket.number);
      if (index < 0 || index >= count) continue;
      finished[index] = bucket.finished;
      failed += bucket.failed;
    }
    return { finished, failed, isPartial: (last - count + 1) * bucketMs < this.#isCompleteFrom };
  }

  #keep(row: CallRow): void {
    this.#calls.set(row.id, row);
    this.#sorted = undefined;
    if (this.#calls.size <= callsMax) return;
    // A map keeps insertion order, which is nearly the order of age.
    const oldest = this.#calls.keys().next().value;
    if (oldest !== undefined) this.#calls.delete(oldest);
  }

  #count(at: number, { status, more }: CallRow): void {
    const number = Math.floor(at / bucketMs);
    let bucket = this.#buckets.find((one) => one.number === number);
    if (!bucket) {
      bucket = { number, finished: 0, failed: 0 };
      this.#buckets.push(bucket);
      this.#buckets.sort((one, other) => one.number - other.number);
      if (this.#buckets.length > bucketsMax) this.#buckets.shift();
    }
    bucket.finished += 1 + more;
    if (status === 'failed' || status === 'rejected') bucket.failed += 1 + more;
  }
}

interface RowContext {
  before: CallRow | undefined;
  at: number;
  isEnd: boolean;
}

function rowOf(id: string, data: EventView['data'], { before, at, isEnd }: RowContext): CallRow {
  const text = (value: unknown, fallback: string) => (typeof value === 'string' ? value : fallback);
  const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
  const number = (value: unknown) => (typeof value === 'number' ? value : null);
  const totalMs = isEnd ? number(data.total_ms) : null;
  return {
    id,
    at: before?.at ?? at - (totalMs ?? 0),
    status: isEnd ? text(data.status, 'unknown') : 'running',
    errorCode: textOrNull(data.error_code),
    model: text(data.model, before?.model ?? ''),
    provider: textOrNull(data.provider) ?? before?.provider ?? null,
    key: textOrNull(data.key) ?? before?.key ?? null,
    endpoint: text(data.endpoint, before?.endpoint ?? ''),
    inputTokens: number(data.input_tokens) ?? before?.inputTokens ?? 0,
    outputTokens: number(data.output_tokens) ?? before?.outputTokens ?? 0,
    costUsd: data.cost_usd === undefined ? (before?.costUsd ?? null) : textOrNull(data.cost_usd),
    ttftMs: number(data.ttft_ms) ?? before?.ttftMs ?? null,
    totalMs,
    reason: textOrNull(data.message),
    more: number(data.more) ?? 0,
    address: textOrNull(data.address),
  };
}

/** What the provider of the last attempt said, if the request failed. */
function failureOf({ status, attempts }: TraceView): string | null {
  return status === 'failed' ? (attempts.findLast(({ message }) => message)?.message ?? null) : null;
}

function rowOfTrace(trace: TraceView): CallRow {
  const { request_id: id, status, error_code: errorCode, model, provider, key, endpoint } = trace;
  return {
    id,
    at: Date.parse(trace.created_at),
    status,
    errorCode,
    model: model ?? '',
    provider,
    key,
    endpoint,
    inputTokens: trace.tokens.input,
    outputTokens: trace.tokens.output,
    costUsd: trace.cost?.total_usd ?? null,
    ttftMs: trace.timings.first_token_ms,
    totalMs: trace.timings.total_ms,
    reason: trace.rejection?.message ?? failureOf(trace),
    more: trace.rejection?.more ?? 0,
    address: trace.rejection?.address ?? null,
  };
}
