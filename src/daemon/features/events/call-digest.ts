import { formatUsd, parseUsd } from '../../../shared/money/money.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type { World } from '../../base/world.ts';
import type { FeedEvent } from './follower.ts';

/** Running calls of which the state is kept for a reader. */
const runningMax = 1_000;
/** Durations of which percentiles are computed; further ones of the same digest are left out. */
const measuredMax = 5_000;

const finished: readonly string[] = ['request.completed', 'request.failed', 'request.rejected'];
const running: readonly string[] = ['request.started', 'request.routed', 'request.progress'];

type Data = FeedEvent['data'];

/** What happened to the calls of a workspace since the digest before. */
class CallDigest {
  readonly #rowsMax: number;
  readonly #running = new RecentMap<string, Data>(runningMax);
  #started = 0;
  #statuses: Record<string, number> = {};
  #errors: Record<string, number> = {};
  #tokens = { input: 0, output: 0 };
  /** Nano-dollars. */
  #cost = 0;
  #firstTokens: number[] = [];
  #totals: number[] = [];
  #rows: Data[] = [];
  #sequence: number | null = null;
  #isEmpty = true;

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax;
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Returns whether the event is one of a call, which the digest then has in its place. */
  take({ type, data, sequence }: FeedEvent): boolean {
    if (running.includes(type)) this.#takeRunning(type, data);
    else if (finished.includes(type)) this.#takeFinished(data);
    else return false;
    this.#isEmpty = false;
    this.#sequence = sequence ?? this.#sequence;
    return true;
  }

  /** The event of what was taken since the last one. */
  next(workspaceId: string, at: number): FeedEvent {
    const event: FeedEvent = {
      type: 'calls.digest',
      workspaceId,
      at,
      sequence: this.#sequence,
      data: {
        started: this.#started,
        finished: Object.values(this.#statuses).reduce((sum, calls) => sum + calls, 0),
        statuses: this.#statuses,
        errors: this.#errors,
        input_tokens: this.#tokens.input,
        output_tokens: this.#tokens.output,
        cost_usd: formatUsd(this.#cost),
        first_token_ms: percentiles(this.#firstTokens),
        total_ms: percentiles(this.#totals),
        rows: newest(this.#rows, this.#rowsMax).reverse(),
        running: this.#running.size,
        running_rows: newest([...this.#running.values()], this.#rowsMax).reverse(),
      },
    };
    this.#started = 0;
    this.#statuses = {};
    this.#errors = {};
    this.#tokens = { input: 0, output: 0 };
    this.#cost = 0;
    this.#firstTokens = [];
    this.#totals = [];
    this.#rows = [];
    this.#isEmpty = true;
    return event;
  }

  #takeRunning(type: string, data: Data): void {
    if (type === 'request.started') this.#started += 1;
    const id = String(data.request_id);
    const known = this.#running.get(id);
    // The end of a call can be read before what was published at its start.
    if (known || type === 'request.started') this.#running.set(id, { ...known, ...data });
  }

  #takeFinished(data: Data): void {
    this.#running.delete(String(data.request_id));
    // Of a flood of rejected calls, one event stands for several.
    const calls = 1 + (numberIn(data.more) ?? 0);
    count(this.#statuses, data.status, calls);
    if (typeof data.error_code === 'string') count(this.#errors, data.error_code, calls);
    this.#tokens.input += numberIn(data.input_tokens) ?? 0;
    this.#tokens.output += numberIn(data.output_tokens) ?? 0;
    this.#cost += typeof data.cost_usd === 'string' ? (parseUsd(data.cost_usd) ?? 0) : 0;
    const [firstToken, total] = [numberIn(data.ttft_ms), numberIn(data.total_ms)];
    if (firstToken !== undefined && this.#firstTokens.length < measuredMax)
      this.#firstTokens.push(firstToken);
    const wasAnswered = data.status === 'completed' || data.status === 'incomplete';
    if (total !== undefined && wasAnswered && this.#totals.length < measuredMax) this.#totals.push(total);
    this.#rows.push(data);
    if (this.#rows.length > 2 * this.#rowsMax) this.#rows = newest(this.#rows, this.#rowsMax);
  }
}

/** The last ones. */
function newest<T>(all: readonly T[], most: number): T[] {
  return all.slice(Math.max(0, all.length - most));
}

function count(counts: Record<string, number>, name: unknown, calls: number): void {
  if (typeof name === 'string') counts[name] = (counts[name] ?? 0) + calls;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function percentiles(values: readonly number[]): { p50: number | null; p95: number | null } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
  return { p50: at(0.5), p95: at(0.95) };
}

interface DigestOptions {
  everyMs: number;
  rows: number;
  isWanted: (event: FeedEvent) => boolean;
  workspaceId: string;
  world: Pick<World, 'now' | 'sleep'>;
}

/**
 * Replaces the events of calls by digests of them, at most one in `everyMs` and none while nothing happens. A stored event of
 * another kind is sent after the digest of what came before it, so that a reader can resume after either.
 */
export async function* digested(
  batches: AsyncGenerator<FeedEvent[], void, undefined>,
  { everyMs, rows, isWanted, workspaceId, world }: DigestOptions,
): AsyncGenerator<FeedEvent[], void, undefined> {
  const digest = new CallDigest(rows);
  const over = new AbortController();
  let next = batches.next();
  let due: Promise<'due'> | undefined;
  try {
    for (;;) {
      const read = await Promise.race([next, ...(due ? [due] : [])]);
      if (read === 'due') {
        due = undefined;
        if (!digest.isEmpty) yield [digest.next(workspaceId, world.now())];
        continue;
      }
      if (read.done) return;
      next = batches.next();
      const others: FeedEvent[] = [];
      for (const event of read.value.filter(isWanted)) {
        if (digest.take(event)) continue;
        if (event.sequence !== null && !digest.isEmpty) others.push(digest.next(workspaceId, world.now()));
        others.push(event);
      }
      // The first batch is empty, and opens the stream.
      if (others.length > 0 || read.value.length === 0) yield others;
      if (!digest.isEmpty) due ??= world.sleep(everyMs, over.signal).then(() => 'due' as const);
    }
  } finally {
    over.abort();
    due?.catch(() => {});
    next.catch(() => {});
    await batches.return();
  }
}
