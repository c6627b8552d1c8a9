import { whenAborted } from './when-aborted.ts';

interface RunOptions {
  /** Owners who wait take turns. */
  owner?: string;
  /** Ends the wait; the task does not run then. */
  signal?: AbortSignal;
}

/**
 * Runs a few tasks at a time. The owners of the waiting tasks take turns, so that one with many tasks delays another by one
 * task at most.
 */
export class Semaphore {
  /** Asked each time, as a reload may change it. */
  readonly #tasksMax: () => number;
  readonly #queues = new Map<string, Set<() => void>>();
  #running = 0;
  #waiting = 0;

  constructor(tasksMax: () => number) {
    this.#tasksMax = tasksMax;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Fails with the signal's reason if it aborts before the task starts. */
  async run<T>(task: () => Promise<T>, { owner = '', signal }: RunOptions = {}): Promise<T> {
    signal?.throwIfAborted();
    if (this.#waiting === 0 && this.#running < this.#tasksMax()) this.#running += 1;
    else await this.#turnOf(owner, signal);
    try {
      return await task();
    } finally {
      this.#running -= 1;
      this.#startWaiting();
    }
  }

  async #turnOf(owner: string, signal: AbortSignal | undefined): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const queue = this.#queues.get(owner) ?? new Set();
    this.#queues.set(owner, queue.add(turn.resolve));
    this.#waiting += 1;
    const stopWatching = signal && whenAborted(signal, () => this.#leave(owner, turn, signal));
    try {
      await turn.promise;
    } finally {
      stopWatching?.();
    }
  }

  #leave(owner: string, { resolve, reject }: PromiseWithResolvers<void>, signal: AbortSignal): void {
    const queue = this.#queues.get(owner);
    if (!queue?.delete(resolve)) return;
    this.#waiting -= 1;
    if (queue.size === 0) this.#queues.delete(owner);
    reject(signal.reason);
  }

  /** Whoever gets a turn counts as running from then on. */
  #startWaiting(): void {
    while (this.#running < this.#tasksMax()) {
      const [next] = this.#queues;
      if (next === undefined) return;
      const [owner, queue] = next;
      const [start] = queue;
      if (start === undefined) return;
      this.#queues.delete(owner);
      queue.delete(start);
      if (queue.size > 0) this.#queues.set(owner, queue);
      this.#waiting -= 1;
      this.#running += 1;
      start();
    }
  }
}
