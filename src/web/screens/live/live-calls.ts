import { type CallRow, isEndOfRequest, rowOfEvent, rowOfTrace } from '../../../shared/calls/call-row.ts';
import type { EventView } from '../../../shared/contract/events.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';

/** Older calls are dropped, running ones last. */
const callsMax = 500;
/** Over which the rate of calls is measured. */
const rateMs = 60_000;

/** What ended at a time: calls and their cost. */
interface Ended {
  at: number;
  calls: number;
  usd: number;
}

/** The running calls of a workspace and the latest finished ones. */
export class LiveCalls {
  readonly #rows = new Map<string, CallRow>();
  #ended: Ended[] = [];
  #since: number;
  /** Of a digest, as not all running calls have a row. */
  #running: number | undefined;

  constructor(now: number) {
    this.#since = now;
  }

  get(id: string): CallRow | undefined {
    return this.#rows.get(id);
  }

  /** Running ones first, then by their start, newest first. */
  rows(): CallRow[] {
    const isRunning = ({ status }: CallRow) => status === 'running';
    return [...this.#rows.values()].sort(
      (one, other) => Number(isRunning(other)) - Number(isRunning(one)) || other.at - one.at,
    );
  }

  running(): number {
    if (this.#running !== undefined) return this.#running;
    return [...this.#rows.values()].filter(({ status }) => status === 'running').length;
  }

  /** Calls a second, and dollars an hour at the rate of the last minute. */
  rate(now: number): { calls: number; usdPerHour: number } {
    const from = Math.max(now - rateMs, this.#since);
    const seconds = Math.max(1, (now - from) / 1_000);
    const last = this.#ended.filter(({ at }) => at >= from);
    const sum = (of: (ended: Ended) => number) => last.reduce((total, one) => total + of(one), 0);
    return {
      calls: sum(({ calls }) => calls) / seconds,
      usdPerHour: (sum(({ usd }) => usd) / seconds) * 3_600,
    };
  }

  /** Adds calls that ended before the events. */
  backfill(traces: readonly TraceView[]): void {
    for (const trace of traces) {
      const known = this.#rows.get(trace.request_id);
      if (!known || known.status === 'running') this.#keep(rowOfTrace(trace));
    }
  }

  /** Forgets what was running, as its end may have been missed. */
  forgetRunning(): void {
    this.#running = undefined;
    for (const [id, { status }] of this.#rows) if (status === 'running') this.#rows.delete(id);
  }

  take(events: readonly EventView[]): void {
    for (const event of events) {
      if (event.type === 'calls.digest') this.#takeDigest(event);
      else this.#takeCall(event);
    }
    const oldest = (this.#ended.at(-1)?.at ?? 0) - rateMs;
    if ((this.#ended[0]?.at ?? 0) < oldest) this.#ended = this.#ended.filter(({ at }) => at >= oldest);
  }

  #takeCall({ type, created_at: time, data }: EventView): void {
    const id = data.request_id;
    if (typeof id !== 'string' || !type.startsWith('request.')) return;
    this.#running = undefined;
    const at = Date.parse(time);
    const before = this.#rows.get(id);
    const isEnd = isEndOfRequest(type);
    if (before && before.status !== 'running' && !isEnd) return;
    const row = rowOfEvent(id, data, { before, at, isEnd });
    if (isEnd && before?.status !== row.status)
      this.#ended.push({ at, calls: 1 + row.more, usd: Number(row.costUsd ?? 0) });
    this.#keep(row);
  }

  #takeDigest({ created_at: time, data }: EventView): void {
    const at = Date.parse(time);
    this.#ended.push({ at, calls: Number(data.finished), usd: Number(data.cost_usd) });
    const rows = (list: unknown) => (Array.isArray(list) ? (list as EventView['data'][]) : []);
    const runningRows = rows(data.running_rows);
    const stillRunning = new Set(runningRows.map(({ request_id: id }) => id));
    for (const [id, { status }] of this.#rows)
      if (status === 'running' && !stillRunning.has(id)) this.#rows.delete(id);
    for (const [list, isEnd] of [
      [runningRows, false],
      [rows(data.rows), true],
    ] as const)
      for (const one of list) {
        const id = String(one.request_id);
        this.#keep(rowOfEvent(id, one, { before: this.#rows.get(id), at, isEnd }));
      }
    this.#running = Number(data.running);
  }

  #keep(row: CallRow): void {
    this.#rows.set(row.id, row);
    if (this.#rows.size <= callsMax) return;
    const all = [...this.#rows.values()];
    const oldest = all.find(({ status }) => status !== 'running') ?? all[0];
    if (oldest) this.#rows.delete(oldest.id);
  }
}
