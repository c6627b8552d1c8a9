import { TransientMap } from '../../../../shared/async/transient.ts';
import { messageOf } from '../../../../shared/faults/message-of.ts';
import type { BatchResult, Commands, Obstacle, Operation } from './write-batch.ts';
import { batchError, obstacles, operationError, refusedError } from './write-errors.ts';

/** `money`: the writes of model calls and everything small. `bulk`: large rows, which never share a batch with money. */
export type Lane = 'money' | 'bulk';

export interface WriteOptions {
  lane?: Lane;
  /** A later write may replace this one under this name until its batch is sent. */
  replaceableAs?: string;
  /** Approximate size; a bulk write of unknown size counts as 64 KiB. */
  bytes?: number;
  /** No caller waits for it yet, and a later write can replace it: it waits for a batch of others, but not for long. */
  canLinger?: boolean;
}

interface Pending {
  operation: Operation;
  bytes: number;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  replaceableAs: string | undefined;
  /** When a lingering write may join a batch, in milliseconds of `performance.now()`; undefined once it waits for its batch. */
  lingersUntil: number | undefined;
  /** The write that this one replaced; it resolves together with this one. */
  replaced: Pending | undefined;
}

const batchSizeMax = 512;
/** Bulk batches stay small, because the money lane waits for the batch in flight. */
const bulkBytesMax = 1024 * 1024;
const unknownBytes = 64 * 1024;
/** A batch that grows every turn is sent after this time. */
const gatheringMs = 5;

/**
 * Collects writes into batches (group commit): while one batch is in flight, the next one fills. A batch is sent once a
 * turn of the event loop added at most one write, or when its oldest write has waited five milliseconds: a busy loop makes
 * few large commits instead of many small ones, and an idle loop adds only microseconds.
 */
export class WriteQueue {
  readonly #send: (operations: Operation[]) => void;
  readonly #lingerMs: number;
  readonly #lingerMsMax: number;
  readonly #queued: Record<Lane, Pending[]> = { money: [], bulk: [] };
  /** Writes that are not yet to be sent, oldest first. Those that were replaced meanwhile are in the money lane, too. */
  #lingering: Pending[] = [];
  /** Queued and lingering writes of the money lane that may be replaced. */
  readonly #replaceable = new TransientMap<string, Pending>();
  #inFlight: Pending[] | undefined;
  #nextLane: Lane = 'money';
  #tick: NodeJS.Immediate | undefined;
  /** Sends lingering writes if no other batch does. */
  #lingerTimer: NodeJS.Timeout | undefined;
  #arrivals = 0;
  #arrivalsAtTick = 0;
  #oldestAt = 0;
  #whenEmpty: (() => void) | undefined;

  /** A lingering write joins a batch of others after `lingerMs`, and is sent by itself after `lingerMsMax`. */
  constructor(send: (operations: Operation[]) => void, { lingerMs = 10, lingerMsMax = 50 } = {}) {
    this.#send = send;
    this.#lingerMs = lingerMs;
    this.#lingerMsMax = Math.max(lingerMs, lingerMsMax);
  }

  /** Resolves to the command's result after COMMIT. */
  add(operation: Operation, options: WriteOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { lane = 'money', replaceableAs, bytes = unknownBytes, canLinger = false } = options;
      const lingersUntil = canLinger ? performance.now() + this.#lingerMs : undefined;
      const replaced = undefined;
      const pending = { operation, bytes, resolve, reject, replaceableAs, lingersUntil, replaced };
      if (replaceableAs !== undefined) this.#replaceable.set(replaceableAs, pending);
      if (canLinger) this.#linger(pending);
      else this.#enqueue(pending, lane);
    });
  }

  /**
   * Replaces a queued operation, so that both become one write and resolve together; undefined if that one was sent
   * already. If the new operation fails alone, the old one is written after all.
   */
  replace(name: string, operation: Operation): Promise<unknown> | undefined {
    const queued = this.#replaceable.get(name);
    if (!queued) return undefined;
    this.#replaceable.delete(name);
    return new Promise((resolve, reject) => {
      queued.replaced = { ...queued, bytes: 0, replaceableAs: undefined, lingersUntil: undefined };
      queued.operation = operation;
      queued.resolve = resolve;
      queued.reject = reject;
      queued.replaceableAs = undefined;
      if (queued.lingersUntil !== undefined) {
        queued.lingersUntil = undefined;
        this.#enqueue(queued, 'money');
      } else {
        this.#arrivals += 1;
        this.#schedule();
      }
    });
  }

  /** Settles the writes of the batch in flight. */
  completeBatch(result: BatchResult): void {
    const batch = this.#inFlight ?? [];
    this.#inFlight = undefined;
    if ('failure' in result) {
      for (const pending of batch) rejectBoth(pending, batchError(result.failure));
    } else {
      const failed = new Map(result.failed.map((failure) => [failure.index, failure]));
      batch.forEach((pending, index) => {
        const failure = failed.size > 0 ? failed.get(index) : undefined;
        if (failure) {
          pending.reject(operationError(pending.operation[0], failure));
          if (pending.replaced) this.#enqueue(pending.replaced, 'money');
        } else {
          pending.replaced?.resolve(undefined);
          pending.resolve(result.results[index]);
        }
      });
    }
    if (this.size === 0) this.#whenEmpty?.();
    else this.#schedule();
  }

  /** Rejects every write, including the batch in flight. */
  rejectAll(error: Error): void {
    const all = [...(this.#inFlight ?? []), ...this.#queued.money, ...this.#queued.bulk, ...this.#lingering];
    this.#inFlight = undefined;
    this.#lingering = [];
    this.#queued.money = [];
    this.#queued.bulk = [];
    this.#replaceable.clear();
    if (this.#tick) clearImmediate(this.#tick);
    this.#tick = undefined;
    for (const pending of all) rejectBoth(pending, error);
    this.#whenEmpty?.();
  }

  /** Number of writes that are queued or in flight. */
  get size(): number {
    const lingering = this.#lingering.filter(({ lingersUntil }) => lingersUntil !== undefined);
    return (this.#inFlight?.length ?? 0) + this.#waiting + lingering.length;
  }

  /** The names of the commands in the batch in flight. */
  get commandsInFlight(): string[] {
    return [...new Set(this.#inFlight?.map(({ operation: [name] }) => name))];
  }

  /** Resolves when the queue is empty and no batch is in flight. */
  async drained(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#whenEmpty = resolve;
    if (this.size > 0) await promise;
  }

  /** Number of writes that wait for the next batch. */
  get #waiting(): number {
    return this.#queued.money.length + this.#queued.bulk.length;
  }

  #enqueue(pending: Pending, lane: Lane): void {
    if (this.#waiting === 0) this.#oldestAt = performance.now();
    this.#queued[lane].push(pending);
    this.#arrivals += 1;
    this.#schedule();
  }

  #linger(pending: Pending): void {
    this.#lingering.push(pending);
    this.#lingerTimer ??= setTimeout(this.#onLingerEnd, this.#lingerMsMax);
  }

  readonly #onLingerEnd = (): void => {
    this.#lingerTimer = undefined;
    this.#endLingering();
    this.#schedule();
    const next = this.#lingering[0]?.lingersUntil;
    if (next === undefined) return;
    const endsAt = next + this.#lingerMsMax - this.#lingerMs;
    this.#lingerTimer = setTimeout(this.#onLingerEnd, Math.max(0, endsAt - performance.now()));
  };

  /** Moves the writes that have lingered long enough to the money lane, and forgets those that were replaced. */
  #endLingering(): void {
    const now = performance.now();
    const still: Pending[] = [];
    for (const pending of this.#lingering) {
      if (pending.lingersUntil === undefined) continue;
      if (pending.lingersUntil > now) still.push(pending);
      else {
        pending.lingersUntil = undefined;
        this.#queued.money.push(pending);
      }
    }
    this.#lingering = still;
  }

  #schedule(): void {
    if (!this.#inFlight && this.#waiting > 0) this.#tick ??= setImmediate(this.#onTick);
  }

  readonly #onTick = (): void => {
    this.#tick = undefined;
    const quiet = this.#arrivals - this.#arrivalsAtTick <= 1;
    this.#arrivalsAtTick = this.#arrivals;
    const isFull = this.#queued.money.length >= batchSizeMax;
    if (quiet || isFull || performance.now() - this.#oldestAt >= gatheringMs) this.#post();
    else this.#schedule();
  };

  #post(): void {
    this.#endLingering();
    // Lanes alternate, so that neither large rows nor many calls starve the other lane.
    const other = this.#nextLane === 'money' ? 'bulk' : 'money';
    const lane = this.#queued[this.#nextLane].length > 0 ? this.#nextLane : other;
    this.#nextLane = lane === 'money' ? 'bulk' : 'money';
    const queued = this.#queued[lane];
    const size = lane === 'money' ? batchSizeMax : bulkBatchSize(queued);
    const batch = queued.length <= size ? queued : queued.slice(0, size);
    this.#queued[lane] = queued.length <= size ? [] : queued.slice(size);
    if (lane === 'money') this.#removeReplaceable(batch);
    this.#inFlight = batch;
    this.#oldestAt = performance.now();
    try {
      this.#send(batch.map(({ operation }) => operation));
    } catch (error) {
      // It contains what cannot be passed to a thread. Without an end of this batch, no other one would follow.
      const message = messageOf(error);
      this.completeBatch({ failure: { kind: 'failed', code: undefined, message } });
    }
  }

  #removeReplaceable(batch: readonly Pending[]): void {
    for (const { replaceableAs } of batch)
      if (replaceableAs !== undefined) this.#replaceable.delete(replaceableAs);
  }
}

function bulkBatchSize(queued: readonly Pending[]): number {
  let bytes = 0;
  const tooMany = queued.findIndex((pending, index) => {
    bytes += pending.bytes;
    return index === batchSizeMax || (index > 0 && bytes > bulkBytesMax);
  });
  return tooMany < 0 ? queued.length : tooMany;
}

function rejectBoth(pending: Pending, error: Error): void {
  pending.replaced?.reject(error);
  pending.reject(error);
}

/** Writes that wait in this thread until the writer thread has committed them. */
export abstract class QueuedWrites<C extends Commands> {
  protected readonly queue: WriteQueue;
  /** What prevented the last batch, and will prevent others. */
  protected obstacle: Obstacle | undefined;

  constructor(send: (operations: readonly Operation[]) => void) {
    this.queue = new WriteQueue(send);
  }

  /** Why writes are refused; undefined if they are accepted. */
  protected abstract readonly refusal: string | undefined;

  /** Resolves after COMMIT. Rejects with ApiError `conflict` or `unavailable`, or with an internal error. */
  write<N extends keyof C & string>(
    name: N,
    data: Parameters<C[N]>[0],
    options?: WriteOptions,
  ): Promise<ReturnType<C[N]>> {
    const { refusal } = this;
    if (refusal !== undefined) return Promise.reject(refusedError(refusal));
    return this.queue.add([name, data], options) as Promise<ReturnType<C[N]>>;
  }

  /** Replaces the write waiting under `waiting`; undefined if there is none. */
  replace<N extends keyof C & string>(
    waiting: string,
    name: N,
    data: Parameters<C[N]>[0],
  ): Promise<ReturnType<C[N]>> | undefined {
    return this.queue.replace(waiting, [name, data]) as Promise<ReturnType<C[N]>> | undefined;
  }

  /** Number of writes that are not committed yet. */
  get pending(): number {
    return this.queue.size;
  }

  /** Why writes fail now, as far as this thread knows; undefined if they do not. */
  get problem(): string | undefined {
    return this.refusal ?? (this.obstacle && obstacles[this.obstacle]);
  }
}
