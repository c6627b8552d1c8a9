import { whenAborted } from '../../../../../shared/async/when-aborted.ts';
import type { World } from '../../../../base/world.ts';
import { knownEvents } from '../../formats/responses/known-events.ts';
import type { BackgroundStore, EventBatch } from './background-store.ts';

/** Events are written together after this time, or when this many characters are waiting. */
const flushAfterMs = 250;
const flushCharacters = 32 * 1024;
/** `append` waits while more than this is unwritten, when the disk cannot keep up. */
const waitingCharactersMax = 1024 * 1024;

interface EventLogDeps {
  responseId: string;
  store: Pick<BackgroundStore, 'appendEvents' | 'eventsAfter'>;
  world: Pick<World, 'sleep'>;
}

/**
 * The events of a running response. They are written in batches. Followers read written events from the store and only
 * the newest from memory, so that slow followers take no memory.
 */
export class EventLog {
  readonly #deps: EventLogDeps;
  /** Unwritten events, oldest first. */
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

  /** Sequence of the newest event; -1 before the first. */
  get lastSequence(): number {
    return this.#lastSequence;
  }

  /**
   * Adds whole server-sent events; resolves when there is room for more. After a failed write, later events are dropped
   * and the response continues without them.
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

  /** Writes the waiting events and ends all followers. Never rejects. */
  async end(): Promise<void> {
    this.#alarm?.abort();
    while (this.#waiting.length > 0) await this.#flush();
    this.#hasEnded = true;
    this.#wake();
  }

  /** Yields the events after a sequence, until the log ends or the signal is aborted. */
  async *follow(after: number, signal: AbortSignal): AsyncGenerator<EventBatch, void, undefined> {
    const { store, responseId } = this.#deps;
    let seen = after;
    const stopWatching = whenAborted(signal, () => this.#wake());
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
      stopWatching();
    }
  }

  /** Unwritten events after a sequence; undefined when there are none. */
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

  /** Writes the waiting events, or resolves with the write in progress. */
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
    const count = this.#waiting.length;
    if (count === 0) return;
    const text = this.#waiting.map((batch) => batch.text).join('');
    const lastSequence = this.#lastSequence;
    try {
      await this.#deps.store.appendEvents(this.#deps.responseId, { lastSequence, text });
      this.#storedThrough = lastSequence;
    } catch {
      // Later events would follow a gap, so followers get only what was written before.
      this.#hasFailed = true;
    }
    this.#waiting = this.#hasFailed ? [] : this.#waiting.slice(count);
    this.#waitingCharacters = this.#waiting.reduce((sum, batch) => sum + batch.text.length, 0);
    if (this.#hasFailed) this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#followers.splice(0)) resolve();
  }
}

/** Ends each event. It cannot occur within one, as JSON contains no raw line breaks. */
const blankLine = '\n\n';

/** Number of events in a text of whole server-sent events. */
export function countEvents(text: string): number {
  let count = 0;
  for (let at = text.indexOf(blankLine); at >= 0; at = text.indexOf(blankLine, at + 2)) count += 1;
  return count;
}

/** The events of a batch after a sequence. Sequences are consecutive. */
export function textAfter({ text, lastSequence }: EventBatch, sequence: number): string {
  if (sequence >= lastSequence) return '';
  let skipped = sequence - (lastSequence - countEvents(text));
  let start = 0;
  for (; skipped > 0; skipped -= 1) start = text.indexOf(blankLine, start) + blankLine.length;
  return text.slice(start);
}

/** Removes events that OpenAI does not define, for clients that reject them. */
export function withoutUnknownEvents(text: string): string {
  return text
    .split(blankLine)
    .filter((event) => {
      const name = /^event: (.*)/.exec(event)?.[1];
      return name === undefined || knownEvents.has(name);
    })
    .join(blankLine);
}
