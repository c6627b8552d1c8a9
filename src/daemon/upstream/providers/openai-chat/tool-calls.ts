import type { InferenceEvent } from '../../../features/upstreams/neutral.ts';
import { isObject, type Json } from '../../json.ts';
import { CallIds, newCallId } from '../call-ids.ts';

interface CallState {
  /** Its position among the calls, from 0: the correct `index`. */
  ordinal: number;
  /** The provider's id. */
  id: string;
  /** Our id, unique in the answer. Empty until the name is known. */
  callId: string;
  name: string;
  arguments: string;
  /** How often they were parsed, to see whether they are complete. */
  parses: number;
  /** The output item's index; -1 until the name is known. */
  item: number;
  isCustom: boolean;
}

/** What happened to a chunk's piece: unchanged, corrected in place, or held back until the call has a name. */
export type PieceFate = 'intact' | 'changed' | 'held-back';

/**
 * Assembles tool calls from their pieces. Providers deviate: pieces of several calls interleave, every call has index 0
 * with a new id, ids or names are missing or late, calls are sent whole, arguments are objects.
 */
export class ToolCalls {
  readonly #calls: CallState[] = [];
  /** The call that a provider's index currently refers to. */
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
    const reported = isObject(piece.function) ? piece.function : {};
    const name = typeof reported.name === 'string' ? reported.name : '';
    const id = typeof piece.id === 'string' ? piece.id : '';
    const text = argumentsText(reported.arguments);
    const call = this.#callOf(piece.index, { id, name, text });
    call.id ||= id;
    if (id !== '' && call.id === id && !this.#byId.has(id)) this.#byId.set(id, call);
    call.name ||= name;
    const previous = call.arguments;
    call.arguments += text;
    if (call.item >= 0) {
      if (text !== '') events.push({ type: 'arguments', index: call.item, delta: text });
      return repairPiece(piece, call, reported.arguments === undefined ? undefined : text);
    }
    if (call.name === '') return 'held-back';
    call.id ||= newCallId();
    call.callId = this.#ids.unique(call.id);
    call.item = this.#nextItem();
    const { item: index, callId } = call;
    events.push({ type: 'item-started', index, item: { kind: 'function_call', callId, name: call.name } });
    if (call.arguments !== '') events.push({ type: 'arguments', index, delta: call.arguments });
    const isWhole = id === callId && name !== '' && previous === '';
    if (isWhole) return repairPiece(piece, call, text);
    piece.index = call.ordinal;
    piece.id = callId;
    piece.type = 'function';
    piece.function = { ...reported, name: call.name, arguments: call.arguments };
    return 'changed';
  }

  /** A call of a custom tool: only callers of this format have such tools, and they receive the call unchanged. */
  #takeCustom(piece: Json): PieceFate {
    const id = typeof piece.id === 'string' ? piece.id : '';
    const call = this.#callOf(piece.index, { id, name: '', text: '' });
    call.isCustom = true;
    call.callId ||= id;
    return repairPiece(piece, call, undefined);
  }

  /** Ends all calls. Returns pieces with the arguments of calls that had none. */
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

  /** Whether a call never got a name, so that it cannot be answered. */
  get hasUnnamed(): boolean {
    return this.#calls.some((call) => call.item < 0 && !call.isCustom);
  }

  #callOf(reported: unknown, piece: { id: string; name: string; text: string }): CallState {
    const index = typeof reported === 'number' ? reported : undefined;
    const known =
      index === undefined
        ? (this.#byId.get(piece.id) ?? (piece.id === '' ? this.#calls.at(-1) : undefined))
        : this.#byIndex.get(index);
    if (known !== undefined && !startsNewCall(known, piece)) return known;
    const ordinal = this.#calls.length;
    const call: CallState = {
      ordinal,
      id: '',
      callId: '',
      name: '',
      arguments: '',
      parses: 0,
      item: -1,
      isCustom: false,
    };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }
}

/** Whether a piece starts a new call: it has another id or name, or the same name again after complete arguments. */
function startsNewCall(
  call: CallState,
  { id, name, text }: { id: string; name: string; text: string },
): boolean {
  if (name === '' || call.name === '') return false;
  if (id !== '' && id !== call.id) return true;
  if (name !== call.name) return true;
  if (!text.trimStart().startsWith('{') || call.parses >= parsesMax) return false;
  call.parses += 1;
  return isWholeObject(call.arguments);
}

/** Of the arguments of one call: parsing them for each piece would take quadratic time. */
const parsesMax = 100;

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

/** Corrects index, id and arguments of a piece. */
function repairPiece(piece: Json, { ordinal, callId }: CallState, text: string | undefined): PieceFate {
  let fate: PieceFate = 'intact';
  if (isObject(piece.function) && typeof piece.id === 'string' && piece.id !== '' && !piece.type) {
    piece.type = 'function';
    fate = 'changed';
  }
  if (piece.index !== ordinal) {
    piece.index = ordinal;
    fate = 'changed';
  }
  if (typeof piece.id === 'string' && piece.id !== '' && piece.id !== callId) {
    piece.id = callId;
    fate = 'changed';
  }
  const reported = piece.function;
  if (text !== undefined && isObject(reported) && reported.arguments !== text) {
    piece.function = { ...reported, arguments: text };
    fate = 'changed';
  }
  return fate;
}

/** Corrects ids and arguments in the calls of a whole message. */
export function repairCalls(message: Json): void {
  if (!Array.isArray(message.tool_calls)) return;
  const ids = new CallIds();
  for (const call of message.tool_calls) {
    if (!isObject(call) || !isObject(call.function)) continue;
    const text = argumentsText(call.function.arguments);
    call.function.arguments = text.trim() === '' ? '{}' : text;
    if (!call.type) call.type = 'function';
    call.id = ids.unique(call.id);
  }
}
