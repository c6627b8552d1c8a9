/** Shorter values are not masked wherever they are, since they would match ordinary text. */
const charactersMin = 6;

/** Values that are secret, to be masked wherever they are repeated. */
export class KnownSecrets {
  readonly #values = new Set<string>();
  #longestFirst: readonly string[] | undefined;

  constructor(values: Iterable<string | undefined> = []) {
    for (const value of values) this.add(value);
  }

  /** Adds a value in all forms in which it may be repeated. */
  add(value: string | undefined): void {
    if (value === undefined || value.length < charactersMin) return;
    if (this.#values.has(value)) return;
    for (const form of [value, inJson(value), encoded(value), decoded(value)])
      if (form.length >= charactersMin) this.#values.add(form);
    this.#longestFirst = undefined;
  }

  /** Adds a value whose place suggests that it is secret, unless it could as well be a word or two: `lm-studio`. */
  addTelling(value: string | undefined): void {
    if (value === undefined || isWord.test(value)) return;
    if (value.length >= phraseCharactersMin || !words.test(value)) this.add(value);
  }

  /** Adds a value whose place says nothing about it, if it looks random. */
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
export const hostSecrets = new KnownSecrets();

/** Longer ones are passphrases. */
const phraseCharactersMin = 20;
const isWord = /^(?:[a-z]{1,15}|\d{1,7})$/i;
const words = /^[a-z]{1,20}(?:[-_. ][a-z]{1,20}){0,8}$/i;

/** Whether a value is no name, number or address that people write. */
export function looksRandom(value: string): boolean {
  if (value.length < 8 || /\s/.test(value) || words.test(value)) return false;
  if (/^https?:/i.test(value)) return false;
  const isMixed = /\d/.test(value) && /[a-z]/i.test(value);
  return isMixed ? !/^v?\d+(?:[.-]\d+)*(?:[-.]?[a-z]{1,8}\d{0,2})?$/i.test(value) : value.length >= 16;
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
