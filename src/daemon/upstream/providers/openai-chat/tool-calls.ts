import type { InferenceEvent } from '../../../features/inference/neutral.ts';
import { isObject, type Json } from '../../json.ts';
import { CallIds, newCallId } from '../call-ids.ts';

interface CallState {
  /** Its place among the calls, from 0: what `index` should have been. */
  ordinal: number;
  /** As the provider names it. */
  id: string;
  /** As it is named here: no two calls of an answer have the same. Empty until the name is known. */
  callId: string;
  name: string;
  arguments: string;
  /** The output item's index; -1 until the name is known. */
  item: number;
  isCustom: boolean;
}

/** What became of a piece in the format of the wire: left alone, put right in place, or kept back until it is whole. */
export type PieceFate = 'intact' | 'changed' | 'kept-back';

/**
 * Puts tool calls together from their pieces. Providers differ: pieces of several calls interleave, every call comes at
 * index 0 with a new id, ids or names are missing or late, whole calls come at once, arguments are objects.
 */
export class ToolCalls {
  readonly #calls: CallState[] = [];
  /** The call that a provider's index means now. */
  readonly #byIndex = new Map<number, CallState>();
  readonly #byId = new Map<string, CallState>();
  readonly #ids = new CallIds();
  readonly #nextItem: () => number;

  constructor(nextItem: () => number) {
    this.#nextItem = nextItem;
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  take(piece: Json, events: InferenceEvent[]): PieceFate {
    if (isObject(piece.custom)) return this.#takeCustom(piece);
    const told = isObject(piece.function) ? piece.function : {};
    const name = typeof told.name === 'string' ? told.name : '';
    const id = typeof piece.id === 'string' ? piece.id : '';
    const text = argumentsText(told.arguments);
    const call = this.#callOf(piece.index, { id, name, text });
    call.id ||= id;
    if (id !== '' && call.id === id && !this.#byId.has(id)) this.#byId.set(id, call);
    call.name ||= name;
    const kept = call.arguments;
    call.arguments += text;
    if (call.item >= 0) {
      if (text !== '') events.push({ type: 'arguments', index: call.item, delta: text });
      return setRight(piece, call, told.arguments === undefined ? undefined : text);
    }
    if (call.name === '') return 'kept-back';
    call.id ||= newCallId();
    call.callId = this.#ids.own(call.id);
    call.item = this.#nextItem();
    const { item: index, callId } = call;
    events.push({ type: 'item-started', index, item: { kind: 'function_call', callId, name: call.name } });
    if (call.arguments !== '') events.push({ type: 'arguments', index, delta: call.arguments });
    const isWhole = id === callId && name !== '' && kept === '';
    if (isWhole) return setRight(piece, call, text);
    piece.index = call.ordinal;
    piece.id = callId;
    piece.type = 'function';
    piece.function = { ...told, name: call.name, arguments: call.arguments };
    return 'changed';
  }

  /** A call of a tool that is no function: only a caller of this format has such tools, and is told of it as it is. */
  #takeCustom(piece: Json): PieceFate {
    const id = typeof piece.id === 'string' ? piece.id : '';
    const call = this.#callOf(piece.index, { id, name: '', text: '' });
    call.isCustom = true;
    call.callId ||= id;
    return setRight(piece, call, undefined);
  }

  /** Ends all calls; gives the pieces that the format of the wire still lacks: arguments of calls that had none. */
  finish(events: InferenceEvent[]): Json[] {
    const missing: Json[] = [];
    for (const call of this.#calls) {
      if (call.item < 0 || call.arguments.trim() !== '') continue;
      call.arguments = '{}';
      events.push({ type: 'arguments', index: call.item, delta: '{}' });
      missing.push({ index: call.ordinal, function: { arguments: '{}' } });
    }
    return missing;
  }

  /** Indexes of the output items, in order. */
  items(): number[] {
    return this.#calls.flatMap((call) => (call.item < 0 ? [] : [call.item]));
  }

  /** A call that never told its name cannot be answered. */
  get hasNameless(): boolean {
    return this.#calls.some((call) => call.item < 0 && !call.isCustom);
  }

  #callOf(told: unknown, piece: { id: string; name: string; text: string }): CallState {
    const index = typeof told === 'number' ? told : undefined;
    const known =
      index === undefined
        ? (this.#byId.get(piece.id) ?? (piece.id === '' ? this.#calls.at(-1) : undefined))
        : this.#byIndex.get(index);
    if (known !== undefined && !isAnother(known, piece)) return known;
    const ordinal = this.#calls.length;
    const call: CallState = {
      ordinal,
      id: '',
      callId: '',
      name: '',
      arguments: '',
      item: -1,
      isCustom: false,
    };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }
}

/** Whether a piece opens a new call: it has another id or another name, or the same again after a whole call. */
function isAnother(call: CallState, { id, name, text }: { id: string; name: string; text: string }): boolean {
  if (name === '' || call.name === '') return false;
  if (id !== '' && id !== call.id) return true;
  return name !== call.name || (text.trim() !== '' && isWholeObject(call.arguments));
}

function isWholeObject(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isObject(value) ? JSON.stringify(value) : '';
}

/** Puts index, id and arguments right where the provider told them otherwise. */
function setRight(piece: Json, { ordinal, callId }: CallState, text: string | undefined): PieceFate {
  let fate: PieceFate = 'intact';
  if (piece.index !== ordinal) {
    piece.index = ordinal;
    fate = 'changed';
  }
  if (typeof piece.id === 'string' && piece.id !== '' && piece.id !== callId) {
    piece.id = callId;
    fate = 'changed';
  }
  const told = piece.function;
  if (text !== undefined && isObject(told) && told.arguments !== text) {
    piece.function = { ...told, arguments: text };
    fate = 'changed';
  }
  return fate;
}

/** The calls of a whole message, put right in place: ids, arguments as text. Tells whether anything was wrong. */
export function repairCalls(message: Json): boolean {
  if (!Array.isArray(message.tool_calls)) return false;
  let isRepaired = false;
  const ids = new CallIds();
  for (const call of message.tool_calls) {
    if (!isObject(call) || !isObject(call.function)) continue;
    const text =
      argumentsText(call.function.arguments).trim() === '' ? '{}' : argumentsText(call.function.arguments);
    if (text !== call.function.arguments) {
      call.function.arguments = text;
      isRepaired = true;
    }
    const id = ids.own(call.id);
    if (id !== call.id) {
      call.id = id;
      isRepaired = true;
    }
  }
  return isRepaired;
}
