import { UpstreamFailure } from '../../features/upstreams/upstream.ts';
import { isObject, isTooDeep } from '../json.ts';

/** How often JSON may be the text of JSON. */
const wrappingsMax = 3;

/**
 * The arguments of a call as the text of a JSON object, whatever a provider writes instead: an object, the text of its text,
 * or nothing. Undefined for anything else.
 */
export function argumentsIn(value: unknown): string | undefined {
  let text = value;
  for (let depth = 0; depth <= wrappingsMax; depth += 1) {
    // PHP writes an empty object as a list.
    if (text === undefined || text === null || (Array.isArray(text) && text.length === 0)) return '{}';
    if (typeof text !== 'string') return isObject(text) ? JSON.stringify(text) : undefined;
    if (text.trim() === '') return '{}';
    const read = parsed(text);
    if (isObject(read)) return text;
    if (read === unreadable) return withoutRepetition(text);
    text = read;
  }
  return undefined;
}

/** The object that a text consists of several times; undefined for any other text. */
function withoutRepetition(text: string): string | undefined {
  const objects = separateArguments(text);
  return objects?.length === 1 ? objects[0] : undefined;
}

/** As many calls as an answer of OpenAI can have. */
const objectsMax = 128;

/**
 * The distinct objects that a text consists of, without empty ones among others; undefined for any other text. They are the
 * arguments of several calls whose server lost where one ends. Source: huggingface/smolagents#1958, diegosouzapw/OmniRoute#11043,
 * unslothai/unsloth#10059.
 */
export function separateArguments(text: string): string[] | undefined {
  const distinct = new Map<string, string>();
  for (let rest = text.trim(); rest !== '' && !(distinct.size > 0 && strayEnd.test(rest)); ) {
    const end = new ObjectEnd().take(rest);
    const first = end === undefined ? undefined : rest.slice(0, end);
    const value = first === undefined ? unreadable : parsed(first);
    if (first === undefined || !isObject(value) || distinct.size === objectsMax) return undefined;
    const key = JSON.stringify(value);
    if (!distinct.has(key)) distinct.set(key, first);
    rest = rest.slice(first.length).trimStart();
  }
  if (distinct.size > 1) distinct.delete('{}');
  return distinct.size === 0 ? undefined : [...distinct.values()];
}

/** Some servers close an object once more than they open it. Source: vllm-project/vllm-ascend#16001, yigit353/langchain-qwq#30. */
const strayEnd = /^[\s}\]]*$/;

/** Finds where an object ends in a text that comes in pieces. */
class ObjectEnd {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  hasEnded = false;

  /** Takes a piece; returns how much of it belongs to the object if the object ends in it. */
  take(piece: string): number | undefined {
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === backslash) this.#isEscaped = true;
        else if (code === quote) this.#isInText = false;
      } else if (code === quote) this.#isInText = true;
      else if (code === braceOpen || code === bracketOpen) this.#depth += 1;
      else if (code === braceClose || code === bracketClose) {
        this.#depth -= 1;
        if (this.#depth > 0) continue;
        this.hasEnded = true;
        return at + 1;
      }
    }
    return undefined;
  }
}

const quote = 34;
const backslash = 92;
const bracketOpen = 91;
const bracketClose = 93;
const braceOpen = 123;
const braceClose = 125;

const unreadable = Symbol('unreadable');

function parsed(text: string): unknown {
  if (isTooDeep(text)) return unreadable;
  try {
    return JSON.parse(text);
  } catch {
    return unreadable;
  }
}

/** Whether arguments may be sent as they come: they start as an object that is not empty. */
const startOfObject = /^\s*\{(?!\s*\}\s*$)/;
const emptyObject = /^\s*\{\s*\}\s*$/;
const leadingEmpty = /^\s*\{\s*\}\s*(?=\{)/;
const space = 32;

/** Shorter arguments may start with themselves. */
const cumulativeMin = 3;

/** Of the arguments of one call: parsing them for each piece would take quadratic time. */
const parsesMax = 100;

/**
 * The arguments of a call while they are streamed. What may be something else than the arguments themselves is held back: text
 * of text, `null`, and an empty object before the real one. What repeats complete arguments is left out.
 */
export class StreamedArguments {
  #sent = '';
  #held = '';
  #last = '';
  #repeated: string | undefined;
  /** Whether each piece repeats those before it. */
  #isCumulative = false;
  #parses = 0;
  readonly #end = new ObjectEnd();

  /** What was passed on. */
  get sent(): string {
    return this.#sent;
  }

  get isBlank(): boolean {
    return this.#sent === '' && this.#held.trim() === '';
  }

  /** Whether the arguments so far are complete. */
  get isWhole(): boolean {
    if (this.#sent !== '') return this.#end.hasEnded;
    const text = this.#held;
    if (text === '' || this.#parses >= parsesMax || !text.trimEnd().endsWith('}')) return false;
    this.#parses += 1;
    return isObject(parsed(text));
  }

  /** Takes a piece; returns what of it can be passed on. */
  add(piece: string): string {
    if (this.#repeated !== undefined) {
      this.#repeated += piece;
      return '';
    }
    if (this.#sent === '') return this.#start(piece);
    const code = piece.charCodeAt(0);
    if (code !== braceOpen && code > space) return this.#send(piece);
    if (this.#isContinuedBy(piece)) {
      this.#isCumulative = true;
      return this.#send(piece.slice(this.#sent.length));
    }
    // No JSON but a text has a brace after a closing one.
    if (this.#isRepeatedBy(piece)) {
      this.#repeated = piece;
      return '';
    }
    return this.#send(piece);
  }

  /**
   * Takes arguments that are sent once more or for the first time, as a whole; returns what was missing. Undefined if they
   * are not those that were sent.
   */
  complete(whole: string): string | undefined {
    const { sent } = this;
    this.#held = '';
    if (sent === '') return this.#send(whole);
    if (whole.startsWith(sent)) return whole.length > sent.length ? this.#send(whole.slice(sent.length)) : '';
    return isSame(sent, whole) ? '' : undefined;
  }

  /** What is missing at the end of the arguments; undefined if they cannot be read. */
  end(): string | undefined {
    if (this.#repeated !== undefined && !isRepetition(this.#repeated, this.#sent)) return undefined;
    if (this.#sent !== '') return isObject(parsed(this.#sent)) ? '' : undefined;
    const read = argumentsIn(this.#held);
    return read === undefined ? undefined : this.complete(read);
  }

  /** The arguments of further calls that came as part of these; undefined if there are none. */
  separate(): string[] | undefined {
    if (this.#repeated === undefined || isRepetition(this.#repeated, this.#sent)) return undefined;
    const [, ...further] = separateArguments(this.#sent + this.#repeated) ?? [];
    if (further.length === 0) return undefined;
    this.#repeated = undefined;
    return further;
  }

  /** Whether arguments that cannot be read are the start of some that can, so that the answer may have been cut there. */
  get mayBeCut(): boolean {
    return this.#repeated === undefined && isStart(this.#sent || this.#held);
  }

  /** What is missing where the answer was cut. */
  cut(): string {
    if (this.#sent !== '') return '';
    return this.complete(argumentsIn(this.#held) ?? this.#held) ?? '';
  }

  #start(piece: string): string {
    const isAgain = emptyObject.test(this.#held) && startOfObject.test(piece);
    this.#held = isAgain ? piece : this.#held + piece;
    if (!startOfObject.test(this.#held)) return '';
    const text = this.#held.replace(leadingEmpty, '');
    this.#held = '';
    return this.#send(text);
  }

  /** Passes on what belongs to the object; what follows it is kept. */
  #send(text: string): string {
    if (text === '') return '';
    const end = this.#end.hasEnded ? 0 : this.#end.take(text);
    const isBeyond = end !== undefined && text.slice(end).trim() !== '';
    const passed = isBeyond ? text.slice(0, end) : text;
    if (isBeyond) this.#repeated = text.slice(end);
    this.#sent += passed;
    this.#last = passed;
    return passed;
  }

  /** Whether a piece is all arguments so far, and more: an object within the arguments would follow a colon or a comma. */
  #isContinuedBy(piece: string): boolean {
    if (piece.length <= this.#sent.length || !piece.startsWith(this.#sent)) return false;
    return this.#isCumulative || (this.#sent.length >= cumulativeMin && !/[:,[]\s*$/.test(this.#last));
  }

  #isRepeatedBy(piece: string): boolean {
    return piece.trimStart().startsWith('{') && this.isWhole;
  }
}

/** Whether a text is JSON up to its end. */
function isStart(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    const [, position] = /at position (\d+)/.exec(String(error)) ?? [];
    return position === undefined ? /end of JSON/.test(String(error)) : Number(position) >= text.length;
  }
}

/** Whether a text after the arguments repeats them, or as much of them as came, or only closes what is closed. */
function isRepetition(text: string, whole: string): boolean {
  return strayEnd.test(text) || whole.trim().startsWith(text.trim()) || isSame(text, whole);
}

function isSame(one: string, other: string): boolean {
  const first = parsed(one);
  return isObject(first) && JSON.stringify(first) === JSON.stringify(parsed(other));
}

const toolName = /^[\w.:-]{1,128}$/;

/** A call whose arguments no client could read. */
export function unreadableArguments(provider: string, name: unknown): UpstreamFailure {
  const tool = typeof name === 'string' && toolName.test(name) ? `tool ${name}` : 'tool';
  return new UpstreamFailure(
    'server',
    `${provider} called a tool with arguments that are not a JSON object`,
    { publicMessage: `The ${tool} was called with arguments that are not a JSON object.` },
  );
}
