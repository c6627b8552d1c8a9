import type { EventRecord, EventsStore, NewEvent } from './store.ts';

/** An event for readers; `sequence` is null for events that are not stored. */
export type FeedEvent = NewEvent & { sequence: number | null };

/** Stored events read at a time. */
const pageSize = 200;

interface FollowerOptions {
  /** Of the reader, and whatever else it may see. */
  workspaceIds: readonly [string, ...string[]];
  /** The sequence of the last stored event that the reader has. */
  after: number;
  store: Pick<EventsStore, 'after'>;
  /** Maximum number of queued live events. */
  queueMax: number;
  now: () => number;
}

/** One reader of the feed: its queue of live events, and its position among the stored ones. */
export class Follower {
  readonly workspaceIds: readonly [string, ...string[]];
  readonly #options: FollowerOptions;
  #after: number;
  #queue: FeedEvent[] = [];
  #dropped = 0;
  /** Whether there may be unread stored events. */
  #isBehind = true;
  #hasEnded = false;
  #wake: () => void = () => {};

  constructor(options: FollowerOptions) {
    this.workspaceIds = options.workspaceIds;
    this.#options = options;
    this.#after = options.after;
  }

  /** Queues a live event. When the queue is full it is dropped, and the reader gets the number of dropped events. */
  push(event: FeedEvent): void {
    if (this.#queue.length < this.#options.queueMax) this.#queue.push(event);
    else this.#dropped += 1;
  }

  /** Signals that there are new stored events. */
  notify(): void {
    this.#isBehind = true;
  }

  /** Sends what was pushed or signaled. */
  wake(): void {
    this.#wake();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  /** The reader's events, until `end`. No batch is empty. */
  async *batches(): AsyncGenerator<FeedEvent[], void, undefined> {
    while (!this.#hasEnded) {
      const stored = this.#isBehind ? await this.#readStored() : [];
      // Live events first: the start of a call was published before its end was stored.
      const events = [...this.#takeLive(), ...stored];
      if (events.length > 0) yield events;
      else if (!this.#isBehind && !this.#hasEnded) await this.#woken();
    }
  }

  async #readStored(): Promise<EventRecord[]> {
    // Cleared before the read, which may miss events that are stored meanwhile.
    this.#isBehind = false;
    const stored = await this.#options.store.after(this.workspaceIds, this.#after, pageSize);
    if (stored.length === pageSize) this.#isBehind = true;
    this.#after = stored.at(-1)?.sequence ?? this.#after;
    return stored;
  }

  #takeLive(): FeedEvent[] {
    const events = this.#queue;
    if (this.#dropped > 0) {
      events.push({
        type: 'events.dropped',
        workspaceId: this.workspaceIds[0],
        at: this.#options.now(),
        data: { count: this.#dropped },
        sequence: null,
      });
    }
    this.#queue = [];
    this.#dropped = 0;
    return events;
  }

  #woken(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    return promise;
  }
}
