import type { EventView } from '../shared/contract/events.ts';
import type { TraceView } from '../shared/contract/traces.ts';
import { type CallRow, isEndOfRequest, rowOfEvent, rowOfTrace } from './call-row.ts';
import { sum } from './numbers.ts';

const bucketMs = 5000;
const bucketsMax = 120;
/** Over which the rate of calls is measured. */
const rateMs = 60_000;

interface Bucket {
  /** Counted from 1970. */
  number: number;
  finished: number;
  failed: number;
  usd: number;
}

interface LiveCallsOptions {
  /** Older calls are dropped, running ones last. */
  max: number;
  /** Since when events are followed, in milliseconds since 1970. */
  since?: number;
}

const isRunning = ({ status }: CallRow) => status === 'running';

/** The last calls of a workspace, running and ended, in bounded memory. */
export class LiveCalls {
  readonly #max: number;
  readonly #since: number;
  readonly #calls = new Map<string, CallRow>();
  readonly #buckets: Bucket[] = [];
  /** While digests are followed: not all of them are in the list. */
  #running: number | undefined;
  #sorted: CallRow[] | undefined;
  /** Requests that finished before this time, in milliseconds since 1970, may be missing. */
  #isCompleteFrom = 0;

  constructor({ max, since = 0 }: LiveCallsOptions) {
    this.#max = max;
    this.#since = since;
  }

  /** Newest first. */
  rows(): CallRow[] {
    this.#sorted ??= [...this.#calls.values()].sort((one, other) => other.at - one.at);
    return this.#sorted;
  }

  /** Running ones, then those that ended, each newest first. */
  runningFirst(): CallRow[] {
    return this.rows().toSorted((one, other) => Number(isRunning(other)) - Number(isRunning(one)));
  }

  get(id: string): CallRow | undefined {
    return this.#calls.get(id);
  }

  running(): number {
    if (this.#running !== undefined) return this.#running;
    return this.rows().filter(isRunning).length;
  }

  /** Forgets what was running, as its end may have been missed. */
  forgetRunning(): void {
    this.#running = undefined;
    this.#forget(isRunning);
  }

  /** Applies one event of the stream; true if it changed anything. */
  apply({ type, created_at, data }: EventView): boolean {
    if (type === 'calls.digest') {
      this.#applyDigest(Date.parse(created_at), data as unknown as Digest);
      return true;
    }
    const id = data.request_id;
    if (typeof id !== 'string' || !type.startsWith('request.')) return false;
    // It may never start, and floods of rejected calls have no event each.
    if (type === 'request.queued') return false;
    const at = Date.parse(created_at);
    const before = this.#calls.get(id);
    const isEnd = isEndOfRequest(type);
    this.#running = undefined;
    // A late event of a request that has already ended adds nothing.
    if (before && before.status !== 'running' && !isEnd) return false;
    const row = rowOfEvent(id, data, { before, at, isEnd });
    if (isEnd && (!before || before.status === 'running')) this.#countRow(at, row);
    this.#keep(row);
    return true;
  }

  /** Adds finished requests that the stream missed, newest first; `hasMore` if there are older ones. */
  backfill(traces: readonly TraceView[], { hasMore }: { hasMore: boolean }): void {
    const oldest = traces.at(-1);
    if (hasMore && oldest) this.#isCompleteFrom = Date.parse(oldest.completed_at);
    for (const trace of traces) {
      const before = this.#calls.get(trace.request_id);
      if (before && before.status !== 'running') continue;
      const row = rowOfTrace(trace);
      this.#countRow(Date.parse(trace.completed_at), row);
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

  /** Calls a second, and dollars an hour at the rate of the last minute. */
  rate(now: number): { calls: number; usdPerHour: number } {
    const first = Math.floor((now - rateMs) / bucketMs);
    const seconds = Math.max(1, (now - Math.max(first * bucketMs, this.#since)) / 1000);
    const from = Math.max(first, Math.floor(this.#since / bucketMs));
    const last = this.#buckets.filter(({ number }) => number >= from);
    return {
      calls: sum(last.map(({ finished }) => finished)) / seconds,
      usdPerHour: (sum(last.map(({ usd }) => usd)) / seconds) * 3600,
    };
  }

  #keep(row: CallRow): void {
    this.#calls.set(row.id, row);
    this.#sorted = undefined;
    if (this.#calls.size <= this.#max) return;
    // A map keeps insertion order, which is nearly the order of age.
    const oldest = this.#oldestEnded() ?? this.#calls.values().next().value;
    if (oldest) this.#calls.delete(oldest.id);
  }

  #oldestEnded(): CallRow | undefined {
    for (const row of this.#calls.values()) if (!isRunning(row)) return row;
    return undefined;
  }

  #forget(isGone: (row: CallRow) => boolean): void {
    for (const row of this.#calls.values()) if (isGone(row)) this.#calls.delete(row.id);
    this.#sorted = undefined;
  }

  /** The newest calls of a digest become rows; all of them are counted. */
  #applyDigest(at: number, digest: Digest): void {
    const { finished, statuses, cost_usd: usd, rows = [], running, running_rows: runningRows = [] } = digest;
    const still = new Set(runningRows.map(({ request_id: id }) => String(id)));
    this.#forget((row) => isRunning(row) && !still.has(row.id));
    for (const [list, isEnd] of [
      [runningRows, false],
      [rows, true],
    ] as const) {
      for (const data of list) {
        const id = String(data.request_id);
        this.#keep(rowOfEvent(id, data, { before: this.#calls.get(id), at, isEnd }));
      }
    }
    this.#running = running;
    const failed = (statuses?.failed ?? 0) + (statuses?.rejected ?? 0);
    this.#count(at, { finished, failed, usd: Number(usd ?? 0) });
  }

  #countRow(at: number, { status, more, costUsd }: CallRow): void {
    const finished = 1 + more;
    const failed = status === 'failed' || status === 'rejected' ? finished : 0;
    this.#count(at, { finished, failed, usd: Number(costUsd ?? 0) });
  }

  #count(at: number, { finished, failed, usd }: Omit<Bucket, 'number'>): void {
    const number = Math.floor(at / bucketMs);
    let bucket = this.#buckets.find((one) => one.number === number);
    if (!bucket) {
      bucket = { number, finished: 0, failed: 0, usd: 0 };
      this.#buckets.push(bucket);
      this.#buckets.sort((one, other) => one.number - other.number);
      if (this.#buckets.length > bucketsMax) this.#buckets.shift();
    }
    bucket.finished += finished;
    bucket.failed += failed;
    bucket.usd += usd;
  }
}

/** What of the event `calls.digest` is used. */
interface Digest {
  finished: number;
  statuses?: Record<string, number>;
  cost_usd?: string;
  rows?: EventView['data'][];
  running: number;
  running_rows?: EventView['data'][];
}
