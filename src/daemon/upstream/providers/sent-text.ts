/** Below this, what looks like a repeated text may be the text itself. */
const repetitionCharsMin = 16;
const headCharsMax = 64;

/**
 * A text that grows by pieces. Only its length, its start and its last piece are kept: they suffice to compare it with a whole
 * text, and most answers never send one.
 */
export class SentText {
  #length = 0;
  #head = '';
  #last = '';
  #pieces = 0;
  /** Whether each piece repeats all before it, as with some servers. */
  #isCumulative = false;

  get length(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: string): void {
    this.#length += piece.length;
    this.#last = piece;
    this.#pieces += 1;
    if (this.#head.length < headCharsMax) this.#head += piece;
  }

  /** What a whole text adds to what was sent; undefined if it is another text. */
  missingOf(whole: string): string | undefined {
    const from = this.#length - this.#last.length;
    const isSame = whole.startsWith(this.#head) && whole.slice(from, this.#length) === this.#last;
    return isSame ? whole.slice(this.#length) : undefined;
  }

  /**
   * What a piece adds if it repeats all that was sent; undefined for other pieces. The second piece decides: it has to be longer than
   * the first, which has to be long and no repetition itself, as texts begin with rulers and equal lines. The last piece of an answer
   * may be all of it.
   */
  missingOfPiece(piece: string, { isLast = false } = {}): string | undefined {
    if (this.#pieces === 1) {
      const isLong = this.#length >= repetitionCharsMin && piece.length > this.#length;
      this.#isCumulative = isLong && !isRepetition(this.#last);
    }
    if (isLast && this.#pieces > 1 && this.#length >= repetitionCharsMin) return this.missingOf(piece);
    if (!this.#isCumulative) return undefined;
    const missing = this.missingOf(piece);
    this.#isCumulative = missing !== undefined;
    return missing;
  }
}

/** Whether a text is a shorter one several times. */
function isRepetition(text: string): boolean {
  return `${text}${text}`.indexOf(text, 1) < text.length;
}
