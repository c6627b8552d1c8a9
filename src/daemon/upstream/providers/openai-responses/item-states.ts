import { reasoningPayload } from '../../../../shared/formats/response-reasoning.ts';
import type { InferenceEvent, StartedItem } from '../../../features/upstreams/neutral.ts';
import { type Json, objectsOf } from '../../json.ts';
import { argumentsIn, StreamedArguments, unreadableArguments } from '../call-arguments.ts';
import { CallIds, toolNameIn } from '../call-ids.ts';
import { unnamedCall } from '../provider-failures.ts';
import { isUnnamedCall } from './answer.ts';

interface ItemState {
  /** The neutral index: items are numbered in the order in which they start. */
  index: number;
  /** Our id of a call, unique in the answer. */
  callId: string | undefined;
  /** Of a call. */
  name: string | undefined;
  /** The arguments of a function call. */
  arguments: StreamedArguments | undefined;
  /** Those that the item ended with. */
  ended: EndedArguments | undefined;
  isDone: boolean;
  /** Whether any content came as deltas. */
  hasContent: boolean;
  /** Types of the events that started the item and its parts. */
  startEvents: Set<unknown>;
  /** Whether any part was ended. */
  isClosed: boolean;
  /** The kind of reasoning that is used: a provider may send both with the same content. */
  reasoningSource: 'summary' | 'content' | undefined;
  /** The index of each reasoning part by the provider's number, which need not be in order or small. */
  parts: Map<unknown, number> | undefined;
}

/** The arguments of a call, and what of them no delta had. */
interface EndedArguments {
  text: string;
  missing: string;
}

/** What a stream has sent of an item before its end. */
export interface ItemProgress
  extends Omit<ItemState, 'index' | 'callId' | 'name' | 'parts' | 'arguments' | 'ended'> {
  item: Json;
  outputIndex: number;
}

/** The output items of one stream. */
export class ItemStates {
  readonly #origin: { provider: string; model: string };
  readonly #states: ItemState[] = [];
  readonly #byIndex = new Map<number, ItemState>();
  readonly #byId = new Map<string, ItemState>();
  readonly #callIds = new CallIds();
  /** The tool of a call whose arguments cannot be read, which is no fault of an answer that was cut. */
  #unreadable: string | undefined;

  constructor(origin: { provider: string; model: string }) {
    this.#origin = origin;
  }

  get isEmpty(): boolean {
    return this.#states.length === 0;
  }

  text(json: Json, delta: string, events: InferenceEvent[]): void {
    const { index } = this.#stateFor(json, 'message', events);
    const { logprobs } = json;
    if (Array.isArray(logprobs) && logprobs.length > 0) events.push({ type: 'text', index, delta, logprobs });
    else events.push({ type: 'text', index, delta });
  }

  refusal(json: Json, delta: string, events: InferenceEvent[]): void {
    events.push({ type: 'refusal', index: this.#stateFor(json, 'message', events).index, delta });
  }

  annotation(json: Json, annotation: Json, events: InferenceEvent[]): void {
    events.push({ type: 'annotation', index: this.#stateFor(json, 'message', events).index, annotation });
  }

  reasoning(
    json: Json,
    { delta, source }: { delta: string; source: 'summary' | 'content' },
    events: InferenceEvent[],
  ): void {
    const state = this.#stateFor(json, 'reasoning', events);
    state.reasoningSource ??= source;
    if (state.reasoningSource !== source) return;
    const number = source === 'summary' ? json.summary_index : json.content_index;
    state.parts ??= new Map();
    const part = state.parts.get(number) ?? state.parts.size;
    state.parts.set(number, part);
    events.push({ type: 'reasoning', index: state.index, part, delta });
  }

  /** The input of a custom tool. That of a call that was not started is ignored: its end repeats it, with the name. */
  input(json: Json, delta: string, events: InferenceEvent[]): void {
    const state = this.#find(json);
    if (state?.callId === undefined || delta === '') return;
    state.hasContent = true;
    events.push({ type: 'arguments', index: state.index, delta });
  }

  /** The same for arguments. Returns what of them can be passed on. */
  arguments(json: Json, delta: string, events: InferenceEvent[]): string {
    const state = this.#find(json);
    if (state?.arguments === undefined || delta === '') return delta;
    const passed = state.arguments.add(delta);
    if (passed === '') return '';
    state.hasContent = true;
    events.push({ type: 'arguments', index: state.index, delta: passed });
    return passed;
  }

  /**
   * Ends the arguments of a call; undefined if it was not started. Empty ones are left for the end of the item, which may have
   * others.
   */
  endArguments(json: Json, events: InferenceEvent[]): EndedArguments | 'left' | undefined {
    const state = this.#find(json);
    if (state?.arguments?.sent === '' && argumentsIn(json.arguments) === '{}') return 'left';
    return state?.arguments && this.#endArguments(state, state.arguments, json, events);
  }

  /** A call without a name is started at its end. Returns whether the item was changed. */
  start(json: Json, item: Json, events: InferenceEvent[]): boolean {
    if (this.#byReference(json, item.id) !== undefined || isUnnamedCall(item)) return false;
    const state = this.#add(json, this.#started(item), events);
    state.startEvents.add(json.type);
    const { call_id: id, arguments: args, name } = item;
    repairCall(item, state);
    // Its deltas or its end repeat them.
    if (state.arguments && args !== '') item.arguments = '';
    return item.call_id !== id || item.arguments !== args || item.name !== name;
  }

  startPart(json: Json): void {
    this.#find(json)?.startEvents.add(json.type);
  }

  endPart(json: Json): void {
    const state = this.#find(json);
    if (state !== undefined) state.isClosed = true;
  }

  progressOf(json: Json, item: Json): ItemProgress {
    const state = this.#find(json, item.id);
    const { output_index } = json;
    const outputIndex =
      typeof output_index === 'number' ? output_index : (state?.index ?? this.#states.length);
    return { ...(state ?? noProgress), item, outputIndex };
  }

  /** Ends an item; emits content that did not come as deltas. Returns the arguments among it. */
  end(json: Json, item: Json, events: InferenceEvent[]): string {
    const state = this.#find(json, item.id) ?? this.#add(json, this.#started(item), events);
    return this.#end(state, item, events);
  }

  get areNone(): boolean {
    return this.#states.length === 0;
  }

  /** Whether there are items, and all have ended. */
  get areAllDone(): boolean {
    return this.#states.length > 0 && this.#states.every(({ isDone }) => isDone);
  }

  progressOfAll(output: Json[]): ItemProgress[] {
    return output.map((item, outputIndex) => ({
      ...(this.#stateAt(item, outputIndex) ?? noProgress),
      item,
      outputIndex,
    }));
  }

  /** Emits and ends items of the last event that the stream left out or did not finish. */
  endAll(output: Json[], events: InferenceEvent[], { isCut }: { isCut: boolean }): void {
    output.forEach((item, outputIndex) => {
      const state = this.#stateAt(item, outputIndex);
      this.#end(state ?? this.#add({ output_index: outputIndex }, this.#started(item), events), item, events);
    });
    for (const state of this.#states) {
      if (state.isDone) continue;
      if (state.arguments) this.#endArguments(state, state.arguments, {}, events);
      events.push({ type: 'item-done', index: state.index });
      state.isDone = true;
    }
    if (this.#unreadable !== undefined && !isCut)
      throw unreadableArguments(this.#origin.provider, this.#unreadable);
  }

  #endArguments(
    state: ItemState,
    args: StreamedArguments,
    { arguments: reported }: Json,
    events: InferenceEvent[],
  ): EndedArguments {
    if (state.ended) return { ...state.ended, missing: '' };
    const isReported = typeof reported === 'string' ? reported.trim() !== '' : reported !== undefined;
    const whole = isReported ? argumentsIn(reported) : undefined;
    const rest = whole === undefined && isReported ? undefined : whole ? args.complete(whole) : args.end();
    // What was sent cannot be taken back, but it may be readable.
    const missing = rest ?? args.end() ?? this.#unreadableRest(state, args);
    if (missing !== '') events.push({ type: 'arguments', index: state.index, delta: missing });
    state.ended = { text: args.sent, missing };
    return state.ended;
  }

  #unreadableRest(state: ItemState, args: StreamedArguments): string {
    if (!args.mayBeCut) throw unreadableArguments(this.#origin.provider, state.name);
    this.#unreadable ??= state.name;
    return args.cut();
  }

  #stateAt(item: Json, outputIndex: number): ItemState | undefined {
    return this.#byReference({ output_index: outputIndex }, item.id) ?? this.#states[outputIndex];
  }

  #end(state: ItemState, item: Json, events: InferenceEvent[]): string {
    const { index, arguments: args, isDone } = state;
    if (isDone) {
      if (state.ended && item.type === 'function_call') item.arguments = state.ended.text;
      return '';
    }
    state.isDone = true;
    repairCall(item, state);
    const ended = args && this.#endArguments(state, args, item, events);
    if (ended) item.arguments = ended.text;
    else if (!state.hasContent) emitWhole(item, index, events);
    const origin = this.#originOf(item);
    events.push(
      origin === undefined ? { type: 'item-done', index, item } : { type: 'item-done', index, item, origin },
    );
    return ended?.missing ?? '';
  }

  #originOf(item: Json) {
    const payload = reasoningPayload(item);
    return payload && { ...this.#origin, payload };
  }

  /** The item of a delta; some servers never start it. */
  #stateFor(json: Json, kind: 'message' | 'reasoning', events: InferenceEvent[]): ItemState {
    const state = this.#find(json) ?? this.#add(json, { kind, ...idOf(json.item_id) }, events);
    state.hasContent = true;
    return state;
  }

  /** Finds an item by index or id; for servers that send neither, the one that was started last. */
  #find(json: Json, id: unknown = json.item_id): ItemState | undefined {
    const hasReference = typeof json.output_index === 'number' || typeof id === 'string';
    return hasReference ? this.#byReference(json, id) : this.#states.findLast((state) => !state.isDone);
  }

  #byReference({ output_index }: Json, id: unknown): ItemState | undefined {
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
      name: item.kind === 'function_call' ? item.name : undefined,
      arguments: item.kind === 'function_call' && !item.custom ? new StreamedArguments() : undefined,
      ended: undefined,
      isDone: false,
      hasContent: false,
      startEvents: new Set(),
      isClosed: false,
      reasoningSource: undefined,
      parts: undefined,
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
      case 'function_call':
      case 'custom_tool_call': {
        if (isUnnamedCall(item)) throw unnamedCall(this.#origin.provider);
        const { type, name, namespace } = item;
        return {
          kind: 'function_call',
          callId: this.#callIds.unique(item.call_id),
          name: toolNameIn(name),
          ...(typeof namespace === 'string' && { namespace }),
          ...(type === 'custom_tool_call' && { custom: true }),
          ...idOf(item.id),
        };
      }
      default:
        return { kind: 'opaque', json: item };
    }
  }
}

const noProgress = {
  isDone: false,
  hasContent: false,
  isClosed: false,
  startEvents: new Set<unknown>(),
  reasoningSource: undefined,
};

/** Sets our id, and the tool's name, in every copy of a call. */
function repairCall(item: Json, { callId, name }: ItemState): void {
  if (callId === undefined) return;
  item.call_id = callId;
  item.name = name;
}

function idOf(id: unknown): { id?: string } {
  return typeof id === 'string' && id !== '' ? { id } : {};
}

function emitWhole(item: Json, index: number, events: InferenceEvent[]): void {
  if (item.type === 'custom_tool_call') {
    const { input } = item;
    if (typeof input === 'string' && input !== '') events.push({ type: 'arguments', index, delta: input });
  } else if (item.type === 'reasoning') {
    const summary = objectsOf(item.summary);
    (summary.length > 0 ? summary : objectsOf(item.content)).forEach(({ text }, part) => {
      if (typeof text === 'string') events.push({ type: 'reasoning', index, part, delta: text });
    });
  } else if (item.type === 'message') {
    for (const { text, refusal, annotations, logprobs } of objectsOf(item.content)) {
      const withLogprobs = Array.isArray(logprobs) && logprobs.length > 0 ? { logprobs } : undefined;
      if (typeof text === 'string') events.push({ type: 'text', index, delta: text, ...withLogprobs });
      if (typeof refusal === 'string') events.push({ type: 'refusal', index, delta: refusal });
      for (const annotation of objectsOf(annotations)) events.push({ type: 'annotation', index, annotation });
    }
  }
}
