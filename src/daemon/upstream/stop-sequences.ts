import type { Batch, InferenceEvent } from '../features/upstreams/neutral.ts';
import type { Dialect } from './sse-decoder.ts';

/**
 * Applies the caller's stop sequences, for providers without them: the answer ends before the first sequence in its text.
 * The rest is neither emitted nor read, so its tokens are estimated. Thoughts and arguments are not searched.
 */
export class StopSequences {
  readonly #sequences: readonly string[];
  /** Events since the first one whose text may be the start of a sequence. */
  #held: InferenceEvent[] = [];
  hasStopped = false;

  constructor(sequences: readonly string[]) {
    this.#sequences = sequences.filter((sequence) => sequence !== '');
  }

  /** The events that can be emitted now. */
  cut(events: readonly InferenceEvent[]): InferenceEvent[] {
    const released: InferenceEvent[] = [];
    for (const event of events) {
      // Usage may come before the items, in a whole document, or after them.
      if (event.type === 'usage' || event.type === 'prompt-counted') released.push(event);
      else if (!this.hasStopped) this.#take(event, released);
    }
    return released;
  }

  #take(event: InferenceEvent, released: InferenceEvent[]): void {
    if (event.type === 'text') {
      if (this.#held.some((held) => held.type === 'text' && held.index !== event.index))
        this.#release(released);
      this.#held.push(event);
      this.#search(event.index, released);
    } else if (event.type === 'annotation' && this.#held.length > 0) {
      this.#held.push(event);
    } else {
      this.#release(released);
      released.push(event);
    }
  }

  #search(index: number, released: InferenceEvent[]): void {
    const text = this.#held.map(textOf).join('');
    const stop = this.#firstIn(text);
    this.#releaseUpTo(stop?.start ?? text.length - this.#partialLength(text), released);
    if (stop === undefined) return;
    this.#held = [];
    this.hasStopped = true;
    const { sequence: stopSequence } = stop;
    released.push({ type: 'item-done', index }, { type: 'finished', reason: 'stop', stopSequence });
  }

  /** The start of the sequence that is completed first, as if the model had stopped there. */
  #firstIn(text: string): { start: number; sequence: string } | undefined {
    let first: { start: number; end: number; sequence: string } | undefined;
    for (const sequence of this.#sequences) {
      const start = text.indexOf(sequence);
      const end = start + sequence.length;
      if (start >= 0 && (!first || end < first.end || (end === first.end && start < first.start))) {
        first = { start, end, sequence };
      }
    }
    return first;
  }

  /** How many characters at the end of the text may be the start of a sequence. */
  #partialLength(text: string): number {
    let longest = 0;
    for (const sequence of this.#sequences) {
      for (let length = Math.min(sequence.length - 1, text.length); length > longest; length -= 1) {
        if (text.endsWith(sequence.slice(0, length))) longest = length;
      }
    }
    return longest;
  }

  /** Releases held events up to a position in their text. */
  #releaseUpTo(end: number, released: InferenceEvent[]): void {
    let left = end;
    while (left > 0) {
      const event = this.#held.shift();
      if (event === undefined) return;
      const { length } = textOf(event);
      if (event.type === 'text' && length > left) {
        // Log probabilities are per whole token, so a partial text has none.
        const { logprobs: _whole, ...cut } = event;
        released.push({ ...cut, delta: event.delta.slice(0, left) });
        this.#held.unshift({ ...event, delta: event.delta.slice(left) });
        return;
      }
      released.push(event);
      left -= length;
    }
  }

  #release(released: InferenceEvent[]): void {
    for (const event of this.#held) released.push(event);
    this.#held = [];
  }
}

function textOf(event: InferenceEvent): string {
  return event.type === 'text' ? event.delta : '';
}

/** Wraps a dialect so that answers end at the caller's stop sequences. */
export function stoppingAt(sequences: readonly string[], dialect: Dialect): Dialect {
  const stop = new StopSequences(sequences);
  return {
    get isComplete() {
      return stop.hasStopped || dialect.isComplete;
    },
    get hasFinished() {
      return dialect.hasFinished ?? false;
    },
    take(json, raw, batch) {
      const own: Batch = { events: [], frames: batch.frames };
      try {
        dialect.take(json, raw, own);
      } finally {
        for (const event of stop.cut(own.events)) batch.events.push(event);
      }
    },
    finish: (batch, at) => dialect.finish(batch, at),
  };
}
