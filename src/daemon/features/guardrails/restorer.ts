import { isObject } from '../../../shared/json/json-object.ts';
import { inJson } from '../../../shared/masking/known-secrets.ts';
import type { Batch, InferenceEvent } from '../upstreams/neutral.ts';

/** The beginning of what stands for a text, at the end of another one. */
const maybeBegun = /\[[a-z]{0,12}(?:-[a-z]{0,12})?$/;

type Delta = Extract<InferenceEvent, { delta: string }>;

/** Puts the texts back that were replaced in a request, where its answer names what stands for them. */
export class Restorer {
  readonly #originals: ReadonlyMap<string, string>;
  readonly #marks: RegExp;

  /** `originals` are the texts by what stands for them, which is like `[email-abcdefghij]`. */
  constructor(originals: ReadonlyMap<string, string>) {
    this.#originals = originals;
    this.#marks = /\[[a-z]{4,12}-[a-z]{10}\]/g;
  }

  text(text: string): string {
    return text.replace(this.#marks, (mark) => this.#originals.get(mark) ?? mark);
  }

  /** The same within a JSON text, which stays one. */
  jsonText(text: string): string {
    return text.replace(this.#marks, (mark) => {
      const original = this.#originals.get(mark);
      return original === undefined ? mark : inJson(original);
    });
  }

  /** All strings of a JSON value; those named `arguments` are JSON texts. */
  value<T>(value: T, name = ''): T {
    if (typeof value === 'string')
      return (name === 'arguments' ? this.jsonText(value) : this.text(value)) as T;
    if (Array.isArray(value)) return value.map((element) => this.value(element)) as T;
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, this.value(member, key)]),
    ) as T;
  }

  /** The same for a stream, in which what stands for a text may be split. */
  async *batches(batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
    const stream = new RestoredStream(this);
    for await (const { events } of batches)
      yield { events: events.flatMap((event) => stream.add(event)), frames: undefined };
  }
}

class RestoredStream {
  readonly #restorer: Restorer;
  /** Ends of texts that may be the beginning of what stands for another, by item and type. */
  readonly #held = new Map<string, Delta>();
  /** Items with plain text as arguments. */
  readonly #custom = new Set<number>();

  constructor(restorer: Restorer) {
    this.#restorer = restorer;
  }

  add(event: InferenceEvent): InferenceEvent[] {
    if ('delta' in event) return this.#delta(event);
    switch (event.type) {
      case 'item-started': {
        const { item } = event;
        if (item.kind === 'function_call' && item.custom) this.#custom.add(event.index);
        const json = item.kind === 'opaque' ? this.#restorer.value(item.json) : undefined;
        // A text may stay open until the end; calls, whose arguments may come in turns, do not add to it any more.
        return [
          ...this.#flushTexts(),
          json === undefined ? event : { ...event, item: { kind: 'opaque', json } },
        ];
      }
      case 'annotation':
        return [
          ...this.#flush(event.index),
          { ...event, annotation: this.#restorer.value(event.annotation) },
        ];
      case 'item-done':
        return [
          ...this.#flush(event.index),
          event.item ? { ...event, item: this.#restorer.value(event.item) } : event,
        ];
      case 'finished':
        return [
          ...this.#flush(undefined),
          event.members ? { ...event, members: this.#restorer.value(event.members) } : event,
        ];
      default:
        return [event];
    }
  }

  #delta(event: Delta): InferenceEvent[] {
    const key = `${event.type} ${event.index} ${event.type === 'reasoning' ? event.part : ''}`;
    const held = this.#held.get(key);
    this.#held.delete(key);
    // Another part of the same item has begun.
    const before = held === undefined ? this.#flush(event.index) : [];
    const whole = held === undefined ? event.delta : held.delta + event.delta;
    const begun = maybeBegun.exec(whole);
    const ready = begun ? whole.slice(0, begun.index) : whole;
    if (begun) this.#held.set(key, { ...event, delta: begun[0] });
    if (ready === '') return before;
    return [...before, this.#restored(event, ready)];
  }

  #restored(event: Delta, text: string): InferenceEvent {
    const isJson = event.type === 'arguments' && !this.#custom.has(event.index);
    const delta = isJson ? this.#restorer.jsonText(text) : this.#restorer.text(text);
    if (delta === event.delta || !('logprobs' in event)) return { ...event, delta };
    const { logprobs: _logprobs, ...plain } = event;
    return { ...plain, delta };
  }

  #flushTexts(): InferenceEvent[] {
    return this.#flushWhere(({ type }) => type !== 'arguments');
  }

  /** What is held of an item, or of all. */
  #flush(index: number | undefined): InferenceEvent[] {
    return this.#flushWhere((event) => index === undefined || event.index === index);
  }

  #flushWhere(isWanted: (event: Delta) => boolean): InferenceEvent[] {
    const flushed: InferenceEvent[] = [];
    for (const [key, event] of this.#held) {
      if (!isWanted(event)) continue;
      this.#held.delete(key);
      flushed.push(this.#restored(event, event.delta));
    }
    return flushed;
  }
}
