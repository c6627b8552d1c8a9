import type { World } from '../../../../world.ts';
import type { BackgroundStore, EventBatch } from './background-store.ts';
import { countEvents, textAfter } from './event-text.ts';

/** Events wait so long, or until there are so many of them (in characters), to be written together. */
const flushAfterMs = 250;
const flushCharacters = 32 * 1024;
/** The most that waits in memory when the disk cannot keep up; whoever adds more waits with it. */
const waitingCharactersMax = 1024 * 1024;

interface EventLogDeps {
  responseId: string;
  store: Pick<BackgroundStore, 'appendEvents' | 'eventsAfter'>;
  world: Pick<World, 'sleep'>;
}

/**
 * The events of a response that is being made. They are written in batches and read by any number of followers: what
 * is written from the store, the newest from memory, so that a slow follower costs nobody anything.
 */
export class EventLog {
  readonly #deps: EventLogDeps;
  /** Not written yet, oldest first. */
  #waiting: EventBatch[] = [];
  #waitingCharacters = 0;
  #lastSequence = -1;
  #storedThrough = -1;
  #writing: Promise<void> | undefined;
  #alarm: AbortController | undefined;
  #followers: (() => void)[] = [];
  #hasEnded = false;
  #hasFailed = false;

  constructor(deps: EventLogDeps) {
    this.#deps = deps;
  }

  /** The sequence of the newest event, -1 before the first. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /**
   * Adds whole server-sent events; resolves when there is room for more. Once a write has failed nothing is kept any
   * more: the response is worth more than its events, and is made to its end.
   */
  async append(text: string): Promise<void> {
    const count = countEvents(text);
    if (count === 0 || this.#hasFailed) return;
    this.#lastSequence += count;
    this.#waiting.push({ lastSequence: this.#lastSequence, text });
    this.#waitingCharacters += text.length;
    this.#wake();
    if (this.#waitingCharacters >= flushCharacters) void this.#flush();
    else this.#flushLater();
    while (this.#waitingCharacters > waitingCharactersMax) await this.#flush();
  }

  /** Writes what waits and lets the followers go. Never rejects. */
  async end(): Promise<void> {
    this.#alarm?.abort();
    while (this.#waiting.length > 0) await this.#flush();
    this.#hasEnded = true;
    this.#wake();
  }

  /** The events after a sequence as they come, until the log ends or the signal is aborted. */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<EventBatch, void, undefined> {
    const { store, responseId } = this.#deps;
    let seen = after;
    const wake = () => this.#wake();
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        const isStored = seen < this.#storedThrough;
        const batch = isStored ? await store.eventsAfter(responseId, seen) : this.#unseen(seen);
        if (batch) {
          yield { ...batch, text: textAfter(batch, seen) };
          seen = batch.lastSequence;
        } else if (isStored || this.#hasEnded || this.#hasFailed) return;
        else await new Promise<void>((resolve) => this.#followers.push(resolve));
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  /** Of what is not written yet, that which comes after a sequence; undefined when there is nothing. */
  #unseen(seen: number): EventBatch | undefined {
    const unseen = this.#waiting.filter((batch) => batch.lastSequence > seen);
    const last = unseen.at(-1);
    return last && { lastSequence: last.lastSequence, text: unseen.map(({ text }) => text).join('') };
  }

  #flushLater(): void {
    if (this.#alarm || this.#writing) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#deps.world.sleep(flushAfterMs, alarm.signal).then(
      () => this.#flush(),
      () => {},
    );
  }

  /** Writes what waits now; while a write is under way, resolves with that one. */
  #flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      if (this.#waiting.length > 0 && !this.#hasEnded) this.#flushLater();
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    this.#alarm?.abort();
    this.#alarm = undefined;
    const leaving = this.#waiting.length;
    if (leaving === 0) return;
    const text = this.#waiting.map((batch) => batch.text).join('');
    const lastSequence = this.#lastSequence;
    try {
      await this.#deps.store.appendEvents(this.#deps.responseId, { lastSequence, text });
      this.#storedThrough = lastSequence;
    } catch {
      // Later events would follow on a gap: nobody gets more than what was written before.
      this.#hasFailed = true;
    }
    this.#waiting = this.#hasFailed ? [] : this.#waiting.slice(leaving);
    this.#waitingCharacters = this.#waiting.reduce((sum, batch) => sum + batch.text.length, 0);
    if (this.#hasFailed) this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#followers.splice(0)) resolve();
  }
}
