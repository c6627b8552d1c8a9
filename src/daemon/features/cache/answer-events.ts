import type { Batch, InferenceEvent } from '../upstreams/neutral.ts';
import type { Dropped, StreamAnswer } from '../upstreams/upstream.ts';
import { withoutIgnored } from './ignored-members.ts';

/** Longer answers are not stored, in characters of their text. */
const charactersMax = 1024 * 1024;

/** Returns the same answer; `store` is called with its events as JSON text once it was read to its end. */
export function recordAnswer(answer: StreamAnswer, store: (events: string) => Promise<void>): StreamAnswer {
  async function* recorded(): AsyncGenerator<Batch> {
    const recorder = new EventRecorder();
    if (answer.dropped) recorder.add([{ type: 'dropped', dropped: answer.dropped }]);
    for await (const batch of answer.batches) {
      recorder.add(batch.events);
      yield batch;
    }
    const events = recorder.json();
    // Stored before the stream ends, so that a client that has read the answer finds it in the cache.
    if (events !== undefined) await store(events);
  }
  return { ...answer, batches: recorded() };
}

/** A recorded answer as a stream of one batch. */
export function replayAnswer(events: string): StreamAnswer {
  const recorded = JSON.parse(events) as RecordedEvent[];
  async function* batches(): AsyncGenerator<Batch> {
    yield { events: recorded.filter((event) => event.type !== 'dropped'), frames: undefined };
  }
  const dropped = recorded.flatMap((event) => (event.type === 'dropped' ? event.dropped : []));
  return { kind: 'stream', batches: batches(), ...(dropped.length > 0 && { dropped }) };
}

/** The events of an answer, after what its request left out. */
type RecordedEvent = InferenceEvent | { type: 'dropped'; dropped: readonly Dropped[] };

/** Collects events, joining consecutive deltas of the same text. */
class EventRecorder {
  readonly #events: RecordedEvent[] = [];
  #characters = 0;

  add(events: readonly RecordedEvent[]): void {
    if (this.#isTooLong) return;
    for (const event of events) this.#addOne(event);
  }

  /** The events as JSON text; undefined unless the answer finished by itself. */
  json(): string | undefined {
    const isWhole = this.#events.some((event) => event.type === 'finished' && event.reason === 'stop');
    return isWhole && !this.#isTooLong ? JSON.stringify(this.#events) : undefined;
  }

  get #isTooLong(): boolean {
    return this.#characters > charactersMax;
  }

  #addOne(event: RecordedEvent): void {
    if ('delta' in event) this.#characters += event.delta.length;
    const last = this.#events.at(-1);
    if (last && 'delta' in last && 'delta' in event && canJoin(last, event)) last.delta += event.delta;
    else if (event.type === 'finished' && event.members) {
      // Providers repeat some of the request, which the next call need not have, such as its user.
      this.#events.push({ ...event, members: withoutIgnored(event.members) });
    } else this.#events.push({ ...event });
  }
}

type Delta = Extract<InferenceEvent, { delta: string }>;

function canJoin(last: Delta, event: Delta): boolean {
  if (last.type !== event.type || last.index !== event.index) return false;
  if (last.type === 'reasoning' && event.type === 'reasoning') return last.part === event.part;
  return !('logprobs' in last || 'logprobs' in event);
}
