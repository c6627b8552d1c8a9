/** Below this, what looks like a repeated text may be the text itself. */
const repetitionCharsMin = 16;

/**
 * A text that grows by pieces. Only its length and last piece are kept: they suffice to compare it with a whole text, and
 * most answers never send one.
 */
export class SentText {
  #length = 0;
  #last = '';

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: string): void {
    this.#length += piece.length;
    this.#last = piece;
  }

  /** What a whole text adds to what was sent; undefined if it is another text. */
  missingOf(whole: string): string | undefined {
    const from = this.#length - this.#last.length;
    return whole.slice(from, this.#length) === this.#last ? whole.slice(this.#length) : undefined;
  }

  /** Whether a last piece is the whole text once more. */
  isRepeatedBy(piece: string): boolean {
    const isLong = this.#length >= repetitionCharsMin && this.#last.length < this.#length;
    return isLong && piece.length >= this.#length && this.missingOf(piece) !== undefined;
  }
}
