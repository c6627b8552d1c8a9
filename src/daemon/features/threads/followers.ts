import { whenAnyAborted } from '../../../shared/async/when-aborted.ts';
import type { RunEventRecord, ThreadsStore } from './threads-store.ts';

const pageSize = 200;

/** The followers of threads. Events are always read from the store, so that none is missed or sent twice. */
export class ThreadFollowers {
  readonly #store: Pick<ThreadsStore, 'events' | 'byId'>;
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #closing = new AbortController();

  constructor(store: Pick<ThreadsStore, 'events' | 'byId'>) {
    this.#store = store;
  }

  /** To be called after an event of a thread was written. */
  wake(threadId: string): void {
    for (const wake of this.#waiting.get(threadId) ?? []) wake();
  }

  /** To be called after events of any thread may have been written. */
  wakeAll(): void {
    for (const id of this.#waiting.keys()) this.wake(id);
  }

  close(): void {
    this.#closing.abort();
  }

  /** The first batch is empty; the follower misses nothing after it. */
  async *follow(
    { workspaceId, id, after }: { workspaceId: string; id: string; after: number },
    signals: readonly AbortSignal[],
  ): AsyncGenerator<RunEventRecord[], void, undefined> {
    const bell = new Bell();
    const ring = () => bell.ring();
    const ends = [...signals, this.#closing.signal];
    const isOver = () => ends.some((signal) => signal.aborted);
    const leave = this.#enter(id, ring);
    const stopWatching = whenAnyAborted(ends, ring);
    try {
      yield [];
      for (let seen = after; !isOver(); ) {
        const events = await this.#store.events(id, { after: seen, limit: pageSize });
        seen = events.at(-1)?.sequence ?? seen;
        if (events.length > 0) yield events;
        else if (!(await this.#store.byId(workspaceId, id))) return;
        else if (!isOver()) await bell.rung();
      }
    } finally {
      leave();
      stopWatching();
    }
  }

  #enter(threadId: string, ring: () => void): () => void {
    const followers = this.#waiting.get(threadId) ?? new Set();
    this.#waiting.set(threadId, followers.add(ring));
    return () => {
      followers.delete(ring);
      if (followers.size === 0 && this.#waiting.get(threadId) === followers) this.#waiting.delete(threadId);
    };
  }
}

/** Remembers a ring until the next wait. */
class Bell {
  #hasRung = false;
  #wake: () => void = () => {};

  ring(): void {
    this.#hasRung = true;
    this.#wake();
  }

  async rung(): Promise<void> {
    if (!this.#hasRung) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#hasRung = false;
  }
}
