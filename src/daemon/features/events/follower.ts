import type { EventRecord, EventsStore, NewEvent } from './events-store.ts';

/** An event as readers get it: kept ones have a sequence, those told live only have null. */
export type FeedEvent = NewEvent & { sequence: number | null };

/** How many kept events are read at a time. */
const pageSize = 200;

interface FollowerOptions {
  workspaceId: string;
  /** The sequence of the last kept event that the reader has. */
  after: number;
  store: Pick<EventsStore, 'after'>;
  /** How many live events may wait for the reader. */
  liveMax: number;
  now: () => number;
}

/** One reader of the feed: what waits for it, and how far it has read what is kept. */
export class Follower {
  readonly workspaceId: string;
  readonly #options: FollowerOptions;
  #after: number;
  #live: FeedEvent[] = [];
  #dropped = 0;
  /** Whether there may be kept events that it has not read. */
  #isBehind = true;
  #hasEnded = false;
  #wake: () => void = () => {};

  constructor(options: FollowerOptions) {
    this.workspaceId = options.workspaceId;
    this.#options = options;
    this.#after = options.after;
  }

  /** Queues a live event; past the bound it is counted instead, and the reader is told how many it missed. */
  take(event: FeedEvent): void {
    if (this.#live.length < this.#options.liveMax) this.#live.push(event);
    else this.#dropped += 1;
    this.#wake();
  }

  /** Says that there is something new to read in the store. */
  fallBehind(): void {
    this.#isBehind = true;
    this.#wake();
  }

  end(): void {
    this.#hasEnded = true;
    this.#wake();
  }

  /** What the reader gets, until `end`. No batch is empty. */
  async *batches(): AsyncGenerator<FeedEvent[], void, undefined> {
    while (!this.#hasEnded) {
      const kept = this.#isBehind ? await this.#readKept() : [];
      // Live ones first: the start of a call was told before its end was kept.
      const events = [...this.#takeLive(), ...kept];
      if (events.length > 0) yield events;
      else if (!this.#isBehind && !this.#hasEnded) await this.#woken();
    }
  }

  async #readKept(): Promise<EventRecord[]> {
    // Cleared before the read: what is announced during it may be missing from it.
    this.#isBehind = false;
    const kept = await this.#options.store.after(this.workspaceId, this.#after, pageSize);
    if (kept.length === pageSize) this.#isBehind = true;
    this.#after = kept.at(-1)?.sequence ?? this.#after;
    return kept;
  }

  #takeLive(): FeedEvent[] {
    const live = this.#live;
    if (this.#dropped > 0) {
      live.push({
        type: 'events.dropped',
        workspaceId: this.workspaceId,
        at: this.#options.now(),
        data: { count: this.#dropped },
        sequence: null,
      });
    }
    this.#live = [];
    this.#dropped = 0;
    return live;
  }

  #woken(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    return promise;
  }
}
