import type { InferenceEvent, StartedItem } from '../../../features/inference/neutral.ts';
import { isObject, type Json } from '../../json.ts';
import { CallIds } from '../call-ids.ts';
import { namelessCall } from '../provider-failures.ts';
import { isEmpty, isNameless } from './answer.ts';

interface ItemState {
  /** The neutral index: items are counted in the order they start. */
  index: number;
  /** Of a call: as it is named here. */
  callId: string | undefined;
  isDone: boolean;
  /** Whether any of its content came as deltas. */
  hasContent: boolean;
  /** Types of the events that told its beginning and that of its parts. */
  begun: Set<unknown>;
  /** Whether the end of any part was told. */
  isClosed: boolean;
  /** Which of the two kinds of thoughts is told: a provider may send both, and they say the same. */
  thoughtsFrom: 'summary' | 'content' | undefined;
  /** The places of its paragraphs by the provider's numbers, which need not be in order or small. */
  paragraphs: Map<unknown, number> | undefined;
}

/** What a stream has told of an item before its end. */
export interface ToldOfItem extends Omit<ItemState, 'index' | 'callId' | 'paragraphs'> {
  item: Json;
  /** Its output index. */
  place: number;
}

/** The output items of one stream, as far as they have come. */
export class ItemStates {
  readonly #of: { provider: string; model: string };
  readonly #states: ItemState[] = [];
  readonly #byIndex = new Map<number, ItemState>();
  readonly #byId = new Map<string, ItemState>();
  readonly #callIds = new CallIds();

  constructor(of: { provider: string; model: string }) {
    this.#of = of;
  }

  text(json: Json, delta: string, events: InferenceEvent[]): void {
    const { index } = this.#grow(json, 'message', events);
    const { logprobs } = json;
    if (Array.isArray(logprobs) && logprobs.length > 0) events.push({ type: 'text', index, delta, logprobs });
    else events.push({ type: 'text', index, delta });
  }

  refusal(json: Json, delta: string, events: InferenceEvent[]): void {
    events.push({ type: 'refusal', index: this.#grow(json, 'message', events).index, delta });
  }

  annotation(json: Json, annotation: Json, events: InferenceEvent[]): void {
    events.push({ type: 'annotation', index: this.#grow(json, 'message', events).index, annotation });
  }

  thought(json: Json, told: { delta: string; from: 'summary' | 'content' }, events: InferenceEvent[]): void {
    const state = this.#grow(json, 'reasoning', events);
    state.thoughtsFrom ??= told.from;
    if (state.thoughtsFrom !== told.from) return;
    const number = told.from === 'summary' ? json.summary_index : json.content_index;
    state.paragraphs ??= new Map();
    const part = state.paragraphs.get(number) ?? state.paragraphs.size;
    state.paragraphs.set(number, part);
    events.push({ type: 'reasoning', index: state.index, part, delta: told.delta });
  }

  /** Arguments of a call that was not announced wait for its end, which tells the name. */
  arguments(json: Json, delta: string, events: InferenceEvent[]): void {
    const state = this.#find(json);
    if (state?.callId === undefined || delta === '') return;
    state.hasContent = true;
    events.push({ type: 'arguments', index: state.index, delta });
  }

  /** A call that has no name yet waits for its end. */
  start(json: Json, item: Json, events: InferenceEvent[]): void {
    if (this.#named(json, item.id) !== undefined || isNameless(item)) return;
    const state = this.#add(json, this.#started(item), events);
    state.begun.add(json.type);
    nameCall(item, state);
  }

  startPart(json: Json): void {
    this.#find(json)?.begun.add(json.type);
  }

  endPart(json: Json): void {
    const state = this.#find(json);
    if (state !== undefined) state.isClosed = true;
  }

  toldOf(json: Json, item: Json): ToldOfItem {
    const state = this.#find(json, item.id);
    const { output_index } = json;
    const place = typeof output_index === 'number' ? output_index : (state?.index ?? this.#states.length);
    return { ...(state ?? untold), item, place };
  }

  /** A finished item: what of it did not come as deltas is told now. */
  end(json: Json, item: Json, events: InferenceEvent[]): void {
    this.#end(this.#find(json, item.id) ?? this.#add(json, this.#started(item), events), item, events);
  }

  toldOfAll(output: Json[]): ToldOfItem[] {
    return output.map((item, place) => ({ ...(this.#lastTold(item, place) ?? untold), item, place }));
  }

  /** The items as the last event tells them, in order: those that the stream left out or did not finish. */
  endAll(output: Json[], events: InferenceEvent[]): void {
    output.forEach((item, place) => {
      const state = this.#lastTold(item, place);
      this.#end(state ?? this.#add({ output_index: place }, this.#started(item), events), item, events);
    });
    for (const state of this.#states) {
      if (!state.isDone) events.push({ type: 'item-done', index: state.index });
      state.isDone = true;
    }
  }

  #lastTold(item: Json, place: number): ItemState | undefined {
    return this.#named({ output_index: place }, item.id) ?? this.#states[place];
  }

  #end(state: ItemState, item: Json, events: InferenceEvent[]): void {
    if (state.isDone) return;
    state.isDone = true;
    nameCall(item, state);
    const { index } = state;
    if (!state.hasContent) tellWhole(item, index, events);
    const origin = this.#origin(item);
    events.push(
      origin === undefined ? { type: 'item-done', index, item } : { type: 'item-done', index, item, origin },
    );
  }

  #origin({ type, encrypted_content, id }: Json) {
    if (type !== 'reasoning' || typeof encrypted_content !== 'string') return undefined;
    return { ...this.#of, payload: { encrypted_content, id } };
  }

  /** The item that a delta belongs to; some servers announce none. */
  #grow(json: Json, kind: 'message' | 'reasoning', events: InferenceEvent[]): ItemState {
    const state = this.#find(json) ?? this.#add(json, { kind, ...idOf(json.item_id) }, events);
    state.hasContent = true;
    return state;
  }

  /** By index or id; for servers that tell neither, the one that was started last. */
  #find(json: Json, id: unknown = json.item_id): ItemState | undefined {
    const isNamed = typeof json.output_index === 'number' || typeof id === 'string';
    return isNamed ? this.#named(json, id) : this.#states.findLast((state) => !state.isDone);
  }

  #named({ output_index }: Json, id: unknown): ItemState | undefined {
    const byIndex = typeof output_index === 'number' ? this.#byIndex.get(output_index) : undefined;
    if (byIndex !== undefined || typeof id !== 'string') return byIndex;
    return this.#byId.get(id);
  }

  #add(json: Json, item: StartedItem, events: InferenceEvent[]): ItemState {
    const index = this.#states.length;
    const id = item.kind === 'opaque' ? undefined : item.id;
    const state: ItemState = {
      index,
      callId: item.kind === 'function_call' ? item.callId : undefined,
      isDone: false,
      hasContent: false,
      begun: new Set(),
      isClosed: false,
      thoughtsFrom: undefined,
      paragraphs: undefined,
    };
    this.#states.push(state);
    if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, state);
    if (typeof json.output_index === 'number') this.#byIndex.set(json.output_index, state);
    events.push({ type: 'item-started', index, item });
    return state;
  }

  #started(item: Json): StartedItem {
    switch (item.type) {
      case 'message':
        return { kind: 'message', ...idOf(item.id) };
      case 'reasoning':
        return { kind: 'reasoning', ...idOf(item.id) };
      case 'function_call': {
        if (isNameless(item)) throw namelessCall(this.#of.provider);
        const callId = this.#callIds.own(item.call_id);
        return { kind: 'function_call', callId, name: String(item.name), ...idOf(item.id) };
      }
      default:
        return { kind: 'opaque', json: item };
    }
  }
}

const untold = {
  isDone: false,
  hasContent: false,
  isClosed: false,
  begun: new Set<unknown>(),
  thoughtsFrom: undefined,
};

/** A call has the same id wherever it is told. */
function nameCall(item: Json, { callId }: ItemState): void {
  if (callId !== undefined && item.call_id !== callId) item.call_id = callId;
}

function idOf(id: unknown): { id?: string } {
  return typeof id === 'string' && id !== '' ? { id } : {};
}

function tellWhole(item: Json, index: number, events: InferenceEvent[]): void {
  if (item.type === 'function_call') {
    events.push({ type: 'arguments', index, delta: isEmpty(item.arguments) ? '{}' : String(item.arguments) });
  } else if (item.type === 'reasoning') {
    objectsIn(item.summary).forEach(({ text }, part) => {
      if (typeof text === 'string') events.push({ type: 'reasoning', index, part, delta: text });
    });
  } else if (item.type === 'message') {
    for (const { text, refusal, annotations, logprobs } of objectsIn(item.content)) {
      const withLogprobs = Array.isArray(logprobs) && logprobs.length > 0 ? { logprobs } : undefined;
      if (typeof text === 'string') events.push({ type: 'text', index, delta: text, ...withLogprobs });
      if (typeof refusal === 'string') events.push({ type: 'refusal', index, delta: refusal });
      for (const annotation of objectsIn(annotations)) events.push({ type: 'annotation', index, annotation });
    }
  }
}

function objectsIn(list: unknown): Json[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
