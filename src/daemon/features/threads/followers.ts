import type { RunEventRecord, ThreadsStore } from './threads-store.ts';

const pageSize = 200;

/** Those who follow threads. What is told is always read from the store, so that nothing is missed or told twice. */
export class ThreadFollowers {
  readonly #store: Pick<ThreadsStore, 'events' | 'byId'>;
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #closing = new AbortController();

  constructor(store: Pick<ThreadsStore, 'events' | 'byId'>) {
    this.#store = store;
  }

  /** Says that there is something new to read of a thread. */
  wake(threadId: string): void {
    for (const wake of this.#waiting.get(threadId) ?? []) wake();
  }

  close(): void {
    this.#closing.abort();
  }

  /** The first batch is empty: whoever has it misses nothing from then on. */
  async *follow(
    { workspaceId, id, after }: { workspaceId: string; id: string; after: number },
    signals: readonly AbortSignal[],
  ): AsyncGenerator<RunEventRecord[], void, undefined> {
    const bell = new Bell();
    const ring = () => bell.ring();
    const ends = [...signals, this.#closing.signal];
    const isOver = () => ends.some((signal) => signal.aborted);
    const leave = this.#enter(id, ring);
    for (const signal of ends) signal.addEventListener('abort', ring);
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
      for (const signal of ends) signal.removeEventListener('abort', ring);
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

/** Remembers that it was rung until somebody has waited for it. */
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
