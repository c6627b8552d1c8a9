import { decodePercent } from '../text/decode-percent.ts';

/** Shorter values are not masked wherever they are, since they would match ordinary text. */
const charactersMin = 6;
/** A text is searched for each of them: more would take long, and no honest request has as many. */
const valuesMax = 200;
const digits = /^\d+$/;

/** Values that are secret, to be masked wherever they are repeated. */
export class KnownSecrets {
  readonly #values = new Set<string>();
  readonly #max: number;
  #longestFirst: readonly string[] | undefined;

  constructor(values: Iterable<string | undefined> = [], max = valuesMax) {
    this.#max = max;
    for (const value of values) this.add(value);
  }

  /** Adds a value in all forms in which it may be repeated. */
  add(value: string | undefined): void {
    if (value === undefined || value.length < charactersMin || digits.test(value)) return;
    if (placeholder.test(value)) return;
    if (this.#values.has(value) || this.#values.size >= this.#max) return;
    for (const form of [value, inJson(value), encoded(value), decodePercent(value)])
      if (form.length >= charactersMin && !digits.test(form)) this.#values.add(form);
    this.#longestFirst = undefined;
  }

  /** Adds a value whose place suggests that it is secret, unless it could as well be a word or two: `lm-studio`. */
  addTelling(value: string | undefined): void {
    if (value === undefined || isWord.test(value)) return;
    if (value.length >= phraseCharactersMin || !words.test(value)) this.add(value);
  }

  /** Adds the value of a header that may be secret, unless it looks like a name, number or address. */
  addUnusual(value: string): void {
    if (looksUnusual(value)) this.add(value);
  }

  /** Adds a value whose place says little about it, if it looks random. */
  addRandom(value: string): void {
    if (looksRandom(value)) this.add(value);
  }

  /** Those that contain others come first. */
  get values(): readonly string[] {
    this.#longestFirst ??= [...this.#values].sort((a, b) => b.length - a.length);
    return this.#longestFirst;
  }
}

/**
 * The secrets of the host itself, such as the keys of providers and the headers configured for them. Each thread of the daemon
 * has its own copy.
 */
export const hostSecrets = new KnownSecrets([], Number.POSITIVE_INFINITY);

/** What people type as the key of a server that wants none. It protects nothing, and masking it would erase words from texts. */
const placeholder =
  /^(?:ollama|lm-?studio|vllm|llama[.-]?cpp|localai|not-?needed|(?:sk-)?no-?(?:key|auth)(?:-?(?:required|needed))?|anything|placeholder|unused|dummy)$/i;
/** Longer ones are passphrases. */
const phraseCharactersMin = 20;
const isWord = /^(?:[a-z]{1,15}|\d{1,7})$/i;
const words = /^[a-z]{1,20}(?:[-_. ][a-z]{1,20}){0,8}$/i;

/** Whether a value is no name, number or address that people write. */
export function looksUnusual(value: string): boolean {
  if (value.length < 8 || /\s/.test(value) || words.test(value)) return false;
  if (/^https?:/i.test(value)) return false;
  const isMixed = /\d/.test(value) && /[a-z]/i.test(value);
  return isMixed ? !/^v?\d+(?:[.-]\d+)*(?:[-.]?[a-z]{1,8}\d{0,2})?$/i.test(value) : value.length >= 16;
}

/**
 * Whether a value looks as if a program had drawn it: `x7Kq93LmTz0R`, but not `TypeScript`, `v1beta1`, `2024-11-05` or
 * `ERC721TokenContractV2`. Of random values of 20 characters, about one in 20 does not.
 */
export function looksRandom(value: string): boolean {
  return uuid.test(value) || value.split(/[^A-Za-z\d]+/).some(isRandomPart);
}

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
/** Times, sizes and hexadecimal numbers. */
const isNumber = /^(?:\d+|0x[\da-f]{1,8}|\d{1,20}(?:[a-z]\d{0,20}){1,3})$/i;
const chunk = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g;
const betweenLettersAndDigits = /\d(?=[a-z])|[a-z](?=\d)/gi;

/** Words and numbers have longer chunks than random text, and most chunks can be pronounced. */
function isRandomPart(part: string): boolean {
  if (part.length < 8 || isNumber.test(part)) return false;
  const changes = part.match(betweenLettersAndDigits)?.length ?? 0;
  if (changes >= (part.length < 16 ? 4 : 5)) return true;
  const chunks = part.match(chunk) ?? [];
  const chunkCharactersMax = part.length < 20 ? 2.6 : 3.1;
  if (chunks.length >= 5 && part.length <= chunks.length * chunkCharactersMax) return true;
  const odd = chunks.filter((chunk) => !isOrdinaryChunk(chunk)).join('');
  return odd.length * 2 >= part.length;
}

function isOrdinaryChunk(chunk: string): boolean {
  if (digits.test(chunk)) return chunk.length <= 8;
  if (chunk.length === 1 || chunk.length > 20) return false;
  return (chunk.length <= 5 || /[aeiouy]/i.test(chunk)) && !/[bcdfghjklmnpqrstvwxz]{6}/i.test(chunk);
}

/** A text as it is within a string of JSON. */
export function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}
