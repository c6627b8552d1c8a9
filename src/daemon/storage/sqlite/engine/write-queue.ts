import type { BatchAnswer, Operation } from './write-batch.ts';
import { failureOfBatch, failureOfOperation } from './write-failures.ts';

/** `money`: the writes of model calls and all that is small. `bulk`: large rows, which never ride with money. */
export type Lane = 'money' | 'bulk';

export interface WriteOptions {
  lane?: Lane;
  /** The name under which another write may take its place while it waits. */
  replaceableAs?: string;
  /** About how much it writes, where that is much. */
  bytes?: number;
  /** Nobody waits for it yet: it leaves with the next write that is waited for, or by itself after `lingerMs`. */
  canLinger?: boolean;
}

interface Pending {
  operation: Operation;
  bytes: number;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  replaceableAs: string | undefined;
  /** The write whose place this one took; it resolves with this one. */
  replaced: Pending | undefined;
}

const batchSizeMax: Record<Lane, number> = { money: 512, bulk: 16 };
/** Large rows leave few at a time: the money of calls waits for the batch under way. */
const bulkBytesMax = 1024 * 1024;

/**
 * Gathers writes into batches (group commit): while one batch is under way, the next one fills up. A batch leaves
 * when the event loop has gone round with at most one new write, or when its oldest write has waited `lingerMs`: on a busy
 * loop this makes few large commits out of many small ones, on an idle loop it costs microseconds.
 */
export class WriteQueue {
  readonly #send: (operations: Operation[]) => void;
  readonly #lingerMs: number;
  readonly #waiting: Record<Lane, Pending[]> = { money: [], bulk: [] };
  /** Of the money lane only. */
  #replaceable = new Map<string, Pending>();
  #underWay: Pending[] | undefined;
  #turn: Lane = 'money';
  #tick: NodeJS.Immediate | undefined;
  /** Wakes those that linger, when nothing else comes. */
  #alarm: NodeJS.Timeout | undefined;
  #arrivals = 0;
  #arrivalsAtTick = 0;
  #oldestAt = 0;
  #whenEmpty: (() => void) | undefined;

  constructor(send: (operations: Operation[]) => void, { lingerMs = 2 } = {}) {
    this.#send = send;
    this.#lingerMs = lingerMs;
  }

  /** Resolves after COMMIT to what the command returned. */
  add(operation: Operation, options: WriteOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { lane = 'money', replaceableAs, bytes = 0, canLinger = false } = options;
      const pending = { operation, bytes, resolve, reject, replaceableAs, replaced: undefined };
      if (replaceableAs !== undefined) this.#replaceable.set(replaceableAs, pending);
      this.#enqueue(pending, lane, canLinger);
    });
  }

  /**
   * Puts an operation in the place of a waiting one, so that both become one write and resolve together; undefined
   * when that one has left already. Should the new one fail alone, the old one is written after all.
   */
  replace(name: string, operation: Operation): Promise<unknown> | undefined {
    const waiting = this.#replaceable.get(name);
    if (!waiting) return undefined;
    this.#replaceable.delete(name);
    return new Promise((resolve, reject) => {
      const { operation: old, resolve: resolveOld, reject: rejectOld } = waiting;
      waiting.replaced = {
        operation: old,
        bytes: 0,
        resolve: resolveOld,
        reject: rejectOld,
        replaceableAs: undefined,
        replaced: undefined,
      };
      waiting.operation = operation;
      waiting.resolve = resolve;
      waiting.reject = reject;
      waiting.replaceableAs = undefined;
      this.#arrivals += 1;
      this.#schedule();
    });
  }

  /** The answer to the batch under way. */
  answered(answer: BatchAnswer): void {
    const batch = this.#underWay ?? [];
    this.#underWay = undefined;
    if ('failure' in answer) {
      for (const pending of batch) rejectBoth(pending, failureOfBatch(answer.failure));
    } else {
      const failed = new Map(answer.failed.map((failure) => [failure.index, failure]));
      for (const [index, pending] of batch.entries()) {
        const failure = failed.size > 0 ? failed.get(index) : undefined;
        if (failure) {
          pending.reject(failureOfOperation(pending.operation[0], failure));
          if (pending.replaced) this.#enqueue(pending.replaced, 'money');
        } else {
          pending.replaced?.resolve(undefined);
          pending.resolve(answer.results[index]);
        }
      }
    }
    if (this.#isEmpty()) this.#whenEmpty?.();
    else this.#schedule();
  }

  /** Gives up every write, those under way too. */
  rejectAll(error: Error): void {
    const all = [...(this.#underWay ?? []), ...this.#waiting.money, ...this.#waiting.bulk];
    this.#underWay = undefined;
    this.#waiting.money = [];
    this.#waiting.bulk = [];
    this.#replaceable.clear();
    if (this.#tick) clearImmediate(this.#tick);
    this.#tick = undefined;
    for (const pending of all) rejectBoth(pending, error);
    this.#whenEmpty?.();
  }

  /** How many wait or are under way. */
  get size(): number {
    return (this.#underWay?.length ?? 0) + this.#waiting.money.length + this.#waiting.bulk.length;
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drained(): Promise<void> {
    if (this.#isEmpty()) return;
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
    });
  }

  #enqueue(pending: Pending, lane: Lane, canLinger = false): void {
    if (this.#waiting.money.length + this.#waiting.bulk.length === 0) this.#oldestAt = performance.now();
    this.#waiting[lane].push(pending);
    this.#arrivals += 1;
    if (canLinger) this.#alarm ??= setTimeout(this.#onAlarm, this.#lingerMs);
    else this.#schedule();
  }

  readonly #onAlarm = (): void => {
    this.#alarm = undefined;
    if (!this.#isEmpty()) this.#schedule();
  };

  #isEmpty(): boolean {
    return !this.#underWay && this.#waiting.money.length + this.#waiting.bulk.length === 0;
  }

  #schedule(): void {
    if (!this.#underWay) this.#tick ??= setImmediate(this.#onTick);
  }

  readonly #onTick = (): void => {
    this.#tick = undefined;
    const quiet = this.#arrivals - this.#arrivalsAtTick <= 1;
    this.#arrivalsAtTick = this.#arrivals;
    const isFull = this.#waiting.money.length >= batchSizeMax.money;
    if (quiet || isFull || performance.now() - this.#oldestAt >= this.#lingerMs) this.#post();
    else this.#schedule();
  };

  #post(): void {
    // Turn about, so that neither large rows nor a flood of calls keeps the other lane waiting.
    const lane =
      this.#waiting[this.#turn].length > 0 ? this.#turn : this.#turn === 'money' ? 'bulk' : 'money';
    this.#turn = lane === 'money' ? 'bulk' : 'money';
    const waiting = this.#waiting[lane];
    const size = lane === 'money' ? batchSizeMax.money : bulkBatchSize(waiting);
    const batch = waiting.length <= size ? waiting : waiting.slice(0, size);
    this.#waiting[lane] = waiting.length <= size ? [] : waiting.slice(size);
    if (lane === 'money') this.#forgetReplaceable(batch);
    this.#underWay = batch;
    this.#oldestAt = performance.now();
    this.#send(batch.map(({ operation }) => operation));
  }

  #forgetReplaceable(batch: readonly Pending[]): void {
    // A new map where all have left: one that is filled and emptied all the time is rebuilt, and what it was before
    // keeps the finished calls that it named in memory until a full garbage collection.
    if (this.#waiting.money.length === 0) this.#replaceable = new Map();
    else for (const { replaceableAs } of batch) this.#replaceable.delete(replaceableAs ?? '');
  }
}

function bulkBatchSize(waiting: readonly Pending[]): number {
  let bytes = 0;
  const tooMany = waiting.findIndex((pending, place) => {
    bytes += pending.bytes;
    return place === batchSizeMax.bulk || (place > 0 && bytes > bulkBytesMax);
  });
  return tooMany < 0 ? waiting.length : tooMany;
}

function rejectBoth(pending: Pending, error: Error): void {
  pending.replaced?.reject(error);
  pending.reject(error);
}
