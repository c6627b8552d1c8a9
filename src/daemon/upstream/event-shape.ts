import type { RawFrame } from '../features/upstreams/neutral.ts';

/** Numbers and padding, which differ from event to event and say nothing of its content, in formats of OpenAI. */
const mayVary = /"(sequence_number|obfuscation)":/;
const varying = /(?<="sequence_number":)\d+|(?<="obfuscation":")[^"]*/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON texts have none.
const verbatim = /^[^\\\u0000-\u001f]*$/;
const digitZero = 48;

/** Longer events are few, and comparing them takes memory. */
const shapeCharsMax = 16_384;

type Slot = 'text' | 'number' | 'padding';

/**
 * What the JSON text of an event consists of apart from its text, its number and its padding. Nearly all events of a stream are pieces of
 * one text, so that what the first one says of itself is true of the next ones, and only their text has to be read.
 */
export class EventShape {
  /** The event that the others are like. */
  readonly frame: RawFrame | undefined;
  readonly #slots: readonly Slot[];
  /** One more than slots: what is before, between and behind them. */
  readonly #fixed: readonly string[];

  private constructor(fixed: readonly string[], slots: readonly Slot[], frame: RawFrame | undefined) {
    this.#fixed = fixed;
    this.#slots = slots;
    this.frame = frame;
  }

  /** The shape of an event of which a member has this text, if it is written once. `frame` is what was passed on of the event. */
  static of(raw: string, text: string, frame: RawFrame | undefined): EventShape | undefined {
    if (raw.length > shapeCharsMax) return undefined;
    const literal = JSON.stringify(text);
    const at = raw.indexOf(literal);
    if (at < 0 || raw.includes(literal, at + 1)) return undefined;
    const [before, after] = [raw.slice(0, at + 1), raw.slice(at + literal.length - 1)];
    // Without escapes, each text is written as it is, so that the one that was found is the member's.
    if (before.includes('\\') || after.includes('\\')) return undefined;
    if (!mayVary.test(before) && !mayVary.test(after))
      return new EventShape([before, after], ['text'], frame);
    const slots: Slot[] = [...slotsIn(before), 'text', ...slotsIn(after)];
    return new EventShape([...before.split(varying), ...after.split(varying)], slots, frame);
  }

  /** The text of an event with this shape; undefined for any other event. */
  textIn(raw: string): string | undefined {
    let at = 0;
    let text: string | undefined;
    for (let index = 0; index < this.#slots.length; index += 1) {
      const fixed = this.#fixed[index] as string;
      // Comparing a slice is several times faster than `startsWith`, which reads character by character.
      if (raw.slice(at, at + fixed.length) !== fixed) return undefined;
      at += fixed.length;
      const slot = this.#slots[index];
      const end = slot === 'number' ? endOfNumber(raw, at) : endOfText(raw, at);
      if (end === undefined) return undefined;
      if (slot === 'text') text = textOf(raw.slice(at, end));
      else if (slot === 'padding' && !verbatim.test(raw.slice(at, end))) return undefined;
      at = end;
    }
    return raw.slice(at) === this.#fixed[this.#slots.length] ? text : undefined;
  }
}

/** An event that says the same as the frame that it is like, but for its text, its number and its padding. */
export class AlikeFrame implements RawFrame {
  readonly raw: string;
  readonly like: RawFrame;
  #json: Record<string, unknown> | undefined;

  constructor(raw: string, like: RawFrame) {
    this.raw = raw;
    this.like = like;
  }

  get json(): Record<string, unknown> {
    this.#json ??= JSON.parse(this.raw) as Record<string, unknown>;
    return this.#json;
  }
}

function slotsIn(text: string): Slot[] {
  return [...text.matchAll(varying)].map(({ index }) => (text[index - 1] === ':' ? 'number' : 'padding'));
}

/** Where a number without sign and fraction ends; undefined where there is none. */
function endOfNumber(raw: string, from: number): number | undefined {
  let end = from;
  for (let digit = raw.charCodeAt(end) - digitZero; digit >= 0 && digit <= 9; end += 1)
    digit = raw.charCodeAt(end + 1) - digitZero;
  const hasLeadingZero = end > from + 1 && raw.charCodeAt(from) === digitZero;
  return end === from || hasLeadingZero ? undefined : end;
}

/** The next quotation mark that is not escaped. */
function endOfText(raw: string, from: number): number | undefined {
  for (let end = raw.indexOf('"', from); end >= 0; end = raw.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (raw[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return undefined;
}

/** The text that is written so between quotation marks; undefined if that is no JSON. */
function textOf(written: string): string | undefined {
  if (verbatim.test(written)) return written;
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return undefined;
  }
}
