import type { Batch, InferenceEvent, StreamAnswer } from '../inference/index.ts';

/** A longer answer is given and not kept, in characters of its text. */
const charactersMax = 1024 * 1024;

/** The events of an answer as they pass, pieces of one text joined. */
export class EventCollector {
  readonly #events: InferenceEvent[] = [];
  #characters = 0;

  see(events: readonly InferenceEvent[]): void {
    if (this.isTooLong) return;
    for (const event of events) this.#add(event);
  }

  get isTooLong(): boolean {
    return this.#characters > charactersMax;
  }

  /** The answer as JSON text; undefined unless it came to its end by itself. */
  text(): string | undefined {
    const isWhole = this.#events.some((event) => event.type === 'finished' && event.reason === 'stop');
    return isWhole && !this.isTooLong ? JSON.stringify(this.#events) : undefined;
  }

  #add(event: InferenceEvent): void {
    if ('delta' in event) this.#characters += event.delta.length;
    const last = this.#events.at(-1);
    if (last && 'delta' in last && 'delta' in event && joins(last, event)) last.delta += event.delta;
    else this.#events.push({ ...event });
  }
}

type Piece = Extract<InferenceEvent, { delta: string }>;

function joins(last: Piece, event: Piece): boolean {
  if (last.type !== event.type || last.index !== event.index) return false;
  if (last.type === 'reasoning' && event.type === 'reasoning') return last.part === event.part;
  return !('logprobs' in last || 'logprobs' in event);
}

/** A kept answer, given again at once. */
export function answerOf(events: string): StreamAnswer {
  const batch: Batch = { events: JSON.parse(events) as InferenceEvent[], frames: undefined };
  return { kind: 'stream', batches: once(batch) };
}

async function* once(batch: Batch): AsyncGenerator<Batch> {
  yield batch;
}

/** The same answer; `keep` gets its events once it was read to its end. */
export function collected(answer: StreamAnswer, keep: (text: string) => Promise<void>): StreamAnswer {
  return { kind: 'stream', batches: passing(answer.batches, keep) };
}

async function* passing(
  batches: AsyncIterable<Batch>,
  keep: (text: string) => Promise<void>,
): AsyncGenerator<Batch> {
  const collector = new EventCollector();
  for await (const batch of batches) {
    collector.see(batch.events);
    yield batch;
  }
  const text = collector.text();
  // Whoever has read an answer to its end finds it in the cache.
  if (text !== undefined) await keep(text);
}
