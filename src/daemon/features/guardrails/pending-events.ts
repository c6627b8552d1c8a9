import type { InferenceEvent } from '../upstreams/neutral.ts';
import type { AnswerPart } from './verdict.ts';

type Delta = Extract<InferenceEvent, { type: 'text' | 'refusal' | 'arguments' }>;

/** Events of an answer that a hook has not seen yet. */
export class PendingEvents {
  #events: InferenceEvent[] = [];
  readonly #calls = new Set<number>();
  /** Calls that are not whole yet. */
  readonly #open = new Set<number>();
  /** Items of which a hook changed something: what their provider says of the whole item is no longer true. */
  readonly #changed = new Set<number>();

  /** Returns what passes at once, as it has no content. */
  add(events: readonly InferenceEvent[]): InferenceEvent[] {
    const passed: InferenceEvent[] = [];
    for (const event of events) {
      if (event.type === 'usage' || event.type === 'prompt-counted') passed.push(event);
      else {
        this.#events.push(event);
        if (event.type === 'item-started' && event.item.kind === 'function_call') {
          this.#calls.add(event.index);
          this.#open.add(event.index);
        } else if (event.type === 'item-done') this.#open.delete(event.index);
      }
    }
    return passed;
  }

  /** The events before the first tool call that is not whole; all at the end of the answer. */
  take(isLast: boolean): Passage {
    const open = isLast
      ? -1
      : this.#events.findIndex((event) => 'index' in event && this.#open.has(event.index));
    const taken = open < 0 ? this.#events : this.#events.slice(0, open);
    this.#events = open < 0 ? [] : this.#events.slice(open);
    return new Passage(taken, this.#changed);
  }

  /** Whether what `take` returns now is longer than the window of a hook, or has a whole tool call. */
  isDue(window: number): boolean {
    let characters = 0;
    for (const event of this.#events) {
      if ('index' in event && this.#open.has(event.index)) return false;
      if (event.type === 'item-done' && this.#calls.has(event.index)) return true;
      if (event.type === 'text' || event.type === 'refusal') characters += event.delta.length;
      if (characters >= window) return true;
    }
    return false;
  }
}

/** A passage of an answer: its events, and its texts and tool calls as hooks see them. */
export class Passage {
  readonly #events: readonly InferenceEvent[];
  readonly #changed: Set<number>;
  /** The events that each part is made of; a call without arguments has none but its start. */
  readonly #sources: { started?: InferenceEvent; index: number; deltas: Delta[] }[] = [];
  readonly #callAt = new Map<number, number>();
  readonly #before: readonly AnswerPart[];
  /** Replaced by a hook that changes it. */
  parts: readonly AnswerPart[];

  constructor(events: readonly InferenceEvent[], changed: Set<number>) {
    this.#events = events;
    this.#changed = changed;
    const parts: AnswerPart[] = [];
    for (const event of events) this.#read(event, parts);
    this.#before = parts;
    this.parts = parts;
  }

  #read(event: InferenceEvent, parts: AnswerPart[]): void {
    if (event.type === 'item-started' && event.item.kind === 'function_call') {
      this.#callAt.set(event.index, parts.length);
      this.#sources.push({ started: event, index: event.index, deltas: [] });
      parts.push({ type: 'tool_call', name: event.item.name, arguments: '' });
      return;
    }
    if (event.type === 'arguments') {
      const at = this.#callAt.get(event.index) ?? -1;
      const part = parts[at];
      if (part?.type !== 'tool_call') return;
      part.arguments += event.delta;
      this.#sources[at]?.deltas.push(event);
      return;
    }
    if (event.type !== 'text' && event.type !== 'refusal') return;
    const source = this.#sources.at(-1);
    const part = parts.at(-1);
    const [first] = source?.deltas ?? [];
    if (part?.type === 'text' && first?.type === event.type && first.index === event.index) {
      part.text += event.delta;
      source?.deltas.push(event);
      return;
    }
    this.#sources.push({ index: event.index, deltas: [event] });
    parts.push({ type: 'text', text: event.delta });
  }

  /** The text that a client gets of it. */
  get text(): string {
    return this.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  }

  /** The events, with what was changed in `parts`. */
  events(): InferenceEvent[] {
    const replaced = new Map<InferenceEvent, InferenceEvent[]>();
    for (const [at, part] of this.parts.entries()) {
      const before = this.#before[at];
      const source = this.#sources[at];
      if (before === undefined || source === undefined || textOf(part) === textOf(before)) continue;
      const { started, index, deltas } = source;
      const [first, ...others] = deltas;
      const delta = textOf(part);
      this.#changed.add(index);
      for (const other of others) replaced.set(other, []);
      if (first === undefined && started)
        replaced.set(started, [started, { type: 'arguments', index, delta }]);
      else if (first) replaced.set(first, delta === '' ? [] : [{ type: first.type, index, delta }]);
    }
    if (this.#changed.size === 0) return [...this.#events];
    return this.#events.flatMap((event): InferenceEvent[] => {
      if (event.type !== 'item-done' || !event.item || !this.#changed.has(event.index))
        return replaced.get(event) ?? [event];
      const { item: _item, ...done } = event;
      return [done];
    });
  }
}

function textOf(part: AnswerPart): string {
  return part.type === 'text' ? part.text : part.arguments;
}
