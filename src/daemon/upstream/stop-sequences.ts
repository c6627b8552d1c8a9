import type { Batch, InferenceEvent } from '../features/inference/neutral.ts';
import type { Dialect } from './sse-decoder.ts';

/**
 * Ends an answer where the caller's `stop` says, for providers that cannot: the text before the sequence is kept, and
 * what follows it is neither told nor waited for, so that its tokens are estimated. Thoughts and arguments do not stop.
 */
export class StopSequences {
  readonly #sequences: readonly string[];
  /** Events from the first on whose text may turn out to begin a sequence. */
  #held: InferenceEvent[] = [];
  hasStopped = false;

  constructor(sequences: readonly string[]) {
    this.#sequences = sequences.filter((sequence) => sequence !== '');
  }

  /** What of these events may be told now. */
  cut(events: readonly InferenceEvent[]): InferenceEvent[] {
    const told: InferenceEvent[] = [];
    for (const event of events) {
      // The usage of a whole document comes before its items, and may come late.
      if (event.type === 'usage' || event.type === 'prompt-counted') told.push(event);
      else if (!this.hasStopped) this.#see(event, told);
    }
    return told;
  }

  #see(event: InferenceEvent, told: InferenceEvent[]): void {
    if (event.type === 'text') {
      if (this.#held.some((held) => held.type === 'text' && held.index !== event.index)) this.#release(told);
      this.#held.push(event);
      this.#search(event.index, told);
    } else if (event.type === 'annotation' && this.#held.length > 0) {
      this.#held.push(event);
    } else {
      this.#release(told);
      told.push(event);
    }
  }

  #search(index: number, told: InferenceEvent[]): void {
    const text = this.#held.map(textOf).join('');
    const stop = this.#firstIn(text);
    this.#tell(stop ?? text.length - this.#beginningAtEndOf(text), told);
    if (stop === undefined) return;
    this.#held = [];
    this.hasStopped = true;
    told.push({ type: 'item-done', index }, { type: 'finished', reason: 'stop' });
  }

  /** Where the sequence begins that is complete first, as it would be for the model that writes the text. */
  #firstIn(text: string): number | undefined {
    let first: { start: number; end: number } | undefined;
    for (const sequence of this.#sequences) {
      const start = text.indexOf(sequence);
      const end = start + sequence.length;
      if (start >= 0 && (!first || end < first.end || (end === first.end && start < first.start))) {
        first = { start, end };
      }
    }
    return first?.start;
  }

  /** How many characters at the end of a text may begin a sequence. */
  #beginningAtEndOf(text: string): number {
    let longest = 0;
    for (const sequence of this.#sequences) {
      for (let length = Math.min(sequence.length - 1, text.length); length > longest; length -= 1) {
        if (text.endsWith(sequence.slice(0, length))) longest = length;
      }
    }
    return longest;
  }

  /** Tells held text up to a place in it, and what was held between; the rest stays held. */
  #tell(end: number, told: InferenceEvent[]): void {
    let left = end;
    while (left > 0) {
      const event = this.#held.shift();
      if (event === undefined) return;
      const { length } = textOf(event);
      if (event.type === 'text' && length > left) {
        // Log probabilities are of whole tokens and go with the whole.
        const { logprobs: _whole, ...cut } = event;
        told.push({ ...cut, delta: event.delta.slice(0, left) });
        this.#held.unshift({ ...event, delta: event.delta.slice(left) });
        return;
      }
      told.push(event);
      left -= length;
    }
  }

  #release(told: InferenceEvent[]): void {
    for (const event of this.#held) told.push(event);
    this.#held = [];
  }
}

function textOf(event: InferenceEvent): string {
  return event.type === 'text' ? event.delta : '';
}

/** A format whose answers end at the caller's stop sequences. */
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
