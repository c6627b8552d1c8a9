import { isObject, type JsonObject as Json } from '../../../../shared/json/json-object.ts';
import type { Batch, InferenceEvent } from '../../upstreams/neutral.ts';
import type { JsonAnswer, UpstreamAnswer, UpstreamCall } from '../../upstreams/upstream.ts';

/**
 * Applies the caller's stop sequences to an answer whose provider did not get them, as not every format and model has them, and to
 * a translated one, as some servers read over them or leave them in the text: raullenchai/Rapid-MLX#469. Those that cannot be
 * applied, to one of several choices in a stream, stay in `dropped`.
 */
export function stoppedAnswer(
  answer: UpstreamAnswer,
  { inference, abilities, wire }: Pick<UpstreamCall, 'inference' | 'abilities' | 'wire'>,
  sequences: readonly string[],
): UpstreamAnswer {
  const { body } = inference;
  const { dropped: all = [], ...given } = answer;
  const dropped = all.filter(({ param }) => param !== 'stop' && param !== 'stop_sequences');
  if (dropped.length === all.length && wire === inference.wire) return answer;
  const kept = dropped.length > 0 ? { dropped } : {};
  const stop = new StopSequences(sequences);
  if (given.kind === 'json') return { ...cutDocument(given, stop), ...kept };
  if (given.kind === 'embeddings' || (typeof body.n === 'number' && body.n > 1)) return answer;
  // Only its provider knows how long a model has thought.
  const readsOn = abilities?.reasoning !== false;
  return { ...given, batches: stopped(given.batches, stop, { readsOn }), ...kept };
}

/** The batches of an answer up to a stop sequence, and the usage after it. */
async function* stopped(
  batches: AsyncIterable<Batch>,
  stop: StopSequences,
  { readsOn }: { readsOn: boolean },
): AsyncGenerator<Batch> {
  try {
    for await (const { events } of batches) {
      yield { events: stop.cut(events), frames: undefined };
      if (stop.hasStopped && !readsOn) return;
    }
  } catch (error) {
    // What failed after the sequence is not part of the answer.
    if (!stop.hasStopped) throw error;
  }
}

/** A whole answer in the chat or Messages format up to a stop sequence. */
function cutDocument(answer: JsonAnswer, stop: StopSequences): JsonAnswer {
  const { json, wire } = answer;
  const cut = wire === 'messages' ? cutMessage(json, stop) : cutChoices(json, stop);
  return { ...answer, ...cut };
}

function cutChoices(json: Json, stop: StopSequences): Partial<JsonAnswer> {
  const choices = Array.isArray(json.choices) ? json.choices : [];
  const cut = choices.map((choice) => {
    const { message } = choice;
    const found = typeof message?.content === 'string' ? stop.firstIn(message.content) : undefined;
    if (found === undefined) return choice;
    // A model calls its tools after the text.
    const { tool_calls: _calls, ...rest } = message;
    const content = message.content.slice(0, found.start);
    return { ...choice, message: { ...rest, content }, finish_reason: 'stop' };
  });
  const isFirst = cut[0] !== choices[0];
  return { json: { ...json, choices: cut }, ...(isFirst && { finish: 'stop' }) };
}

function cutMessage(json: Json, stop: StopSequences): Partial<JsonAnswer> {
  const blocks = Array.isArray(json.content) ? json.content.filter(isObject) : [];
  for (const [at, { type, text }] of blocks.entries()) {
    const found = type === 'text' && typeof text === 'string' ? stop.firstIn(text) : undefined;
    if (found === undefined) continue;
    const last = { ...blocks[at], text: String(text).slice(0, found.start) };
    const content = [...blocks.slice(0, at), ...(last.text === '' ? [] : [last])];
    return {
      json: { ...json, content, stop_reason: 'stop_sequence', stop_sequence: found.sequence },
      finish: 'stop',
    };
  }
  return {};
}

/**
 * Ends an answer before the first of the sequences in its text. What follows is not emitted, except for its usage. Thoughts
 * and arguments are not searched.
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
    const stop = this.firstIn(text);
    this.#releaseUpTo(stop?.start ?? text.length - this.#partialLength(text), released);
    if (stop === undefined) return;
    this.#held = [];
    this.hasStopped = true;
    const { sequence: stopSequence } = stop;
    released.push({ type: 'item-done', index }, { type: 'finished', reason: 'stop', stopSequence });
  }

  /** The start of the sequence that is completed first, as if the model had stopped there. */
  firstIn(text: string): { start: number; sequence: string } | undefined {
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
