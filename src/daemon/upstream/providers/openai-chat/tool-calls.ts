import type { InferenceEvent } from '../../../features/upstreams/neutral.ts';
import { isObject, type Json } from '../../json.ts';
import { argumentsIn, StreamedArguments, separateArguments, unreadableArguments } from '../call-arguments.ts';
import { CallIds, newCallId, toolNameIn, withoutRepeated } from '../call-ids.ts';
import { unnamedCall } from '../provider-failures.ts';
import { isNoText } from './envelope.ts';
import { signedIn } from './reasoning.ts';

interface CallState {
  /** Its position among the calls, from 0: the correct `index`. -1 until the name is known. */
  ordinal: number;
  /** The provider's id. */
  id: string;
  /** Another id that the provider uses for it. */
  otherId: string;
  /** Our id, unique in the answer. Empty until the name is known. */
  callId: string;
  name: string;
  arguments: StreamedArguments;
  /** The list of calls, one for each delta, that it started in. */
  list: number;
  /** Whether it started at the index of another call. */
  isMisplaced: boolean;
  /** The output item's index; -1 until the name is known. */
  item: number;
  isCustom: boolean;
  /** Whether its arguments were of a type that means nothing. */
  isUnreadable: boolean;
  /** Whether its arguments came as objects. */
  hasObjects: boolean;
}

/** What a piece says about its call. */
interface Said {
  index: number | undefined;
  id: string;
  name: string;
  text: string;
}

/** What happened to a chunk's piece: unchanged, corrected in place, or held back until the call has a name. */
export type PieceFate = 'intact' | 'changed' | 'held-back';

interface ToolCallsOptions {
  provider: string;
  nextItem: () => number;
  /** Called before a call starts whose provider wants to see these members again, or when they come later. */
  sign: (callId: string, members: Json, events: InferenceEvent[]) => void;
}

/**
 * Assembles tool calls from their pieces. Providers deviate: pieces of several calls interleave, every call has index 0
 * with a new id, ids or names are missing, late or change, calls and arguments are sent whole or twice, arguments are
 * objects.
 */
export class ToolCalls {
  readonly #calls: CallState[] = [];
  /** The call that a provider's index currently refers to. */
  readonly #byIndex = new Map<number, CallState>();
  readonly #byId = new Map<string, CallState>();
  readonly #ids = new CallIds();
  readonly #options: ToolCallsOptions;
  #started = 0;
  #list = 0;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#calls.every(isPhantom);
  }

  /** To be called before the pieces of each delta. */
  startList(): void {
    this.#list += 1;
  }

  take(piece: Json, events: InferenceEvent[]): PieceFate {
    if (isObject(piece.custom)) return this.#takeCustom(piece);
    const reported = isObject(piece.function) ? piece.function : {};
    const text = pieceText(reported.arguments);
    const said: Said = {
      index: indexIn(piece.index),
      id: idIn(piece.id),
      name: toolNameIn(reported.name),
      text: text ?? '',
    };
    const call = this.#callOf(said);
    if (text === undefined) call.isUnreadable = true;
    if (isObject(reported.arguments)) call.hasObjects = true;
    call.id ||= said.id;
    if (said.id !== '' && call.id === said.id && !this.#byId.has(said.id)) this.#byId.set(said.id, call);
    const isFirst = call.name === '';
    call.name ||= said.name;
    const delta = call.arguments.add(said.text);
    if (call.item >= 0) {
      this.#sign(call, piece, events);
      if (delta !== '') events.push({ type: 'arguments', index: call.item, delta });
      return repairPiece(piece, call, reported.arguments === undefined ? undefined : delta);
    }
    if (call.name === '') return 'held-back';
    this.#start(call, piece, events);
    const { sent } = call.arguments;
    if (sent !== '') events.push({ type: 'arguments', index: call.item, delta: sent });
    const isWhole = said.id === call.callId && said.name !== '' && isFirst && delta === sent;
    if (isWhole) return repairPiece(piece, call, sent);
    piece.index = call.ordinal;
    piece.id = call.callId;
    piece.type = 'function';
    piece.function = { ...reported, name: call.name, arguments: sent };
    return 'changed';
  }

  /**
   * Takes a call of a whole message that follows its deltas. Returns the piece that was missing, with our numbers; undefined
   * if there is nothing to add.
   */
  takeWhole(call: Json, position: number, events: InferenceEvent[]): Json | undefined {
    const known = this.#byId.get(idIn(call.id)) ?? this.#calls.filter((each) => !isPhantom(each))[position];
    if (known === undefined || known.item < 0) {
      const piece: Json = { ...call, index: indexIn(call.index) ?? position };
      return this.take(piece, events) === 'held-back' ? undefined : piece;
    }
    const reported = isObject(call.function) ? call.function : {};
    const whole = argumentsIn(reported.arguments);
    const missing = whole === undefined ? undefined : known.arguments.complete(whole);
    if (!missing) return undefined;
    events.push({ type: 'arguments', index: known.item, delta: missing });
    return { index: known.ordinal, function: { arguments: missing } };
  }

  /** A call of a custom tool: only callers of this format have such tools, and they receive the call unchanged. */
  #takeCustom(piece: Json): PieceFate {
    const id = idIn(piece.id);
    const call = this.#callOf({ index: indexIn(piece.index), id, name: '', text: '' });
    if (!call.isCustom) call.ordinal = this.#started++;
    call.isCustom = true;
    call.callId ||= id;
    return repairPiece(piece, call, undefined);
  }

  /**
   * Ends all calls. Returns pieces with the arguments that were missing. Throws an UpstreamFailure for calls without a name,
   * and for unreadable arguments, unless the answer was cut. `mustCall`: whether the answer is a call or nothing.
   */
  finish(events: InferenceEvent[], { isCut, mustCall }: { isCut: boolean; mustCall: boolean }): Json[] {
    const { provider } = this.#options;
    const missing: Json[] = [];
    for (const call of [...this.#calls]) {
      if (call.isCustom || isPhantom(call)) continue;
      if (call.item < 0) {
        if (isCut) continue;
        throw unnamedCall(provider);
      }
      // Objects in place of text are pieces of one.
      const further = call.isUnreadable || call.hasObjects ? undefined : call.arguments.separate();
      for (const args of further ?? []) missing.push(this.#add(call, args, events));
      const rest = isCut ? call.arguments.cut() : call.isUnreadable ? undefined : call.arguments.end();
      if (rest === undefined) throw unreadableArguments(provider, call.name);
      if (rest === '') continue;
      events.push({ type: 'arguments', index: call.item, delta: rest });
      missing.push({ index: call.ordinal, function: { arguments: rest } });
    }
    if (mustCall && !isCut && this.#calls.length > 0 && this.isEmpty) throw unnamedCall(provider);
    return missing;
  }

  /** Indexes of the output items, in order. */
  items(): number[] {
    return this.#calls.flatMap((call) => (call.item < 0 ? [] : [call.item]));
  }

  /** Adds a call whose arguments came as part of another one's. Returns its piece. */
  #add({ name, list }: CallState, text: string, events: InferenceEvent[]): Json {
    const call = newCall(list);
    call.name = name;
    call.arguments.add(text);
    this.#calls.push(call);
    this.#start(call, {}, events);
    events.push({ type: 'arguments', index: call.item, delta: text });
    const { ordinal: index, callId: id } = call;
    return { index, id, type: 'function', function: { name, arguments: text } };
  }

  #start(call: CallState, piece: Json, events: InferenceEvent[]): void {
    call.id ||= newCallId();
    call.callId = this.#ids.unique(call.id);
    call.ordinal = this.#started++;
    this.#sign(call, piece, events);
    call.item = this.#options.nextItem();
    const { item: index, callId, name } = call;
    events.push({ type: 'item-started', index, item: { kind: 'function_call', callId, name } });
  }

  #sign({ callId }: CallState, piece: Json, events: InferenceEvent[]): void {
    const signed = signedIn(piece);
    if (signed) this.#options.sign(callId, signed, events);
  }

  #callOf(said: Said): CallState {
    const { index, name } = said;
    const ofIndex = index === undefined ? undefined : this.#byIndex.get(index);
    const isContinuing = index === undefined || name === '';
    const known = ofIndex ?? (isContinuing ? this.#continued(said) : undefined);
    if (known !== undefined && !this.#startsNewCall(known, said)) return known;
    const call = newCall(this.#list);
    call.isMisplaced = ofIndex !== undefined;
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  /** The call of a piece without an index, or at an index that none started at. Source: agno-agi/agno#8879. */
  #continued({ index, id }: Said): CallState | undefined {
    const call = id === '' ? this.#calls.at(-1) : this.#byId.get(id);
    return index === undefined || (call?.isMisplaced && !call.arguments.isWhole) ? call : undefined;
  }

  /** Whether a piece that names a tool starts a new call, instead of repeating the name of the call at its index. */
  #startsNewCall(call: CallState, { index, id, name, text }: Said): boolean {
    if (name === '' || call.name === '') return false;
    const isOwnId = id !== '' && (id === call.id || id === call.otherId);
    if (call.list === this.#list && !isOwnId) return true;
    const startsObject = text.trimStart().startsWith('{');
    const { arguments: args } = call;
    if (name !== call.name) return args.isBlank || (startsObject && !isOwnId) || args.isWhole;
    if (isOwnId || id === '') {
      if (!startsObject || !args.isWhole) return false;
      // A call that is sent twice has its id twice.
      return index === undefined && id === '' ? true : !isRepeated(args.sent, text);
    }
    if (args.isWhole) return true;
    call.otherId = id;
    return false;
  }
}

function newCall(list: number): CallState {
  return {
    ordinal: -1,
    id: '',
    otherId: '',
    callId: '',
    name: '',
    arguments: new StreamedArguments(),
    list,
    isMisplaced: false,
    item: -1,
    isCustom: false,
    isUnreadable: false,
    hasObjects: false,
  };
}

/** Whether a text is arguments that were sent, or their start. */
function isRepeated(sent: string, text: string): boolean {
  return sent.trim().startsWith(text.trim());
}

/** A piece of nothing, such as some servers send in front of their calls. */
function isPhantom({ item, id, isCustom, isUnreadable, arguments: args }: CallState): boolean {
  return item < 0 && !isCustom && !isUnreadable && id === '' && args.isBlank;
}

/** An index that may be a text; undefined for what is no position. */
function indexIn(value: unknown): number | undefined {
  const index = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 ? index : undefined;
}

/** An id that is one. */
function idIn(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value !== 'string' || isNoText(value) ? '' : value;
}

/** The text of a piece of arguments; undefined for a value that cannot be one. */
function pieceText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return '';
  return isObject(value) ? JSON.stringify(value) : undefined;
}

/** Corrects index, id, name and arguments of a piece. */
function repairPiece(piece: Json, call: CallState, text: string | undefined): PieceFate {
  const { ordinal, callId, name } = call;
  let fate: PieceFate = 'intact';
  if (isObject(piece.function) && typeof piece.id === 'string' && piece.id !== '' && !piece.type) {
    piece.type = 'function';
    fate = 'changed';
  }
  if (piece.index !== ordinal) {
    piece.index = ordinal;
    fate = 'changed';
  }
  if (piece.id !== undefined && piece.id !== null && piece.id !== '' && piece.id !== callId) {
    piece.id = callId;
    fate = 'changed';
  }
  const reported = piece.function;
  if (!isObject(reported)) return fate;
  const isRenamed = typeof reported.name === 'string' && reported.name !== '' && reported.name !== name;
  if ((text === undefined || reported.arguments === text) && !isRenamed) return fate;
  piece.function = {
    ...reported,
    ...(isRenamed && { name }),
    ...(text !== undefined && { arguments: text }),
  };
  return 'changed';
}

/**
 * Corrects ids and arguments in the calls of a whole message. Throws an UpstreamFailure for calls without a name, and for
 * unreadable arguments unless the answer was cut.
 */
export function repairCalls(message: Json, { provider, isCut }: { provider: string; isCut: boolean }): void {
  const { tool_calls: calls, function_call: legacy } = message;
  if (isObject(legacy)) repairFunction(legacy, { provider, isCut });
  if (!Array.isArray(calls)) return;
  const ids = new CallIds();
  const distinct = withoutRepeated(calls, (call) =>
    isObject(call) ? idIn(call.id) || undefined : undefined,
  );
  const separate = distinct.flatMap((call): unknown[] => (isObject(call) ? separateCalls(call) : [call]));
  message.tool_calls = separate;
  for (const call of separate) {
    if (!isObject(call) || (!isObject(call.custom) && !isObject(call.function))) throw unnamedCall(provider);
    if (isObject(call.function)) repairFunction(call.function, { provider, isCut });
    if (!call.type) call.type = isObject(call.custom) ? 'custom' : 'function';
    call.id = ids.unique(call.id);
  }
}

/** The calls whose arguments came as those of one. */
function separateCalls(call: Json): Json[] {
  withFunction(call);
  const called = call.function;
  if (!isObject(called) || typeof called.arguments !== 'string') return [call];
  const [first, ...further] = separateArguments(called.arguments) ?? [];
  if (further.length === 0) return [call];
  const others = further.map(
    (args): Json => ({ type: 'function', function: { ...called, arguments: args } }),
  );
  return [{ ...call, function: { ...called, arguments: first } }, ...others];
}

/** Some servers write a call as the Responses format does. Returns whether this one is. */
export function withFunction(call: Json): boolean {
  const { name, arguments: args } = call;
  if (isObject(call.function) || isObject(call.custom) || typeof name !== 'string') return false;
  call.function = { name, arguments: args };
  call.name = undefined;
  call.arguments = undefined;
  return true;
}

function repairFunction(called: Json, { provider, isCut }: { provider: string; isCut: boolean }): void {
  called.name = toolNameIn(called.name);
  if (called.name === '') throw unnamedCall(provider);
  const text = argumentsIn(called.arguments) ?? (isCut ? String(called.arguments) : undefined);
  if (text === undefined) throw unreadableArguments(provider, called.name);
  called.arguments = text;
}
