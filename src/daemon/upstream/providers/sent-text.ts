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

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: string): void {
    this.#length += piece.length;
    this.#last = piece;
    if (this.#head.length < headCharsMax) this.#head += piece;
  }

  /** What a whole text adds to what was sent; undefined if it is another text. */
  missingOf(whole: string): string | undefined {
    const from = this.#length - this.#last.length;
    const isSame = whole.startsWith(this.#head) && whole.slice(from, this.#length) === this.#last;
    return isSame ? whole.slice(this.#length) : undefined;
  }

  /** What a piece adds if it repeats all that was sent, as some servers do with each; undefined for other pieces. */
  missingOfPiece(piece: string): string | undefined {
    const isLong = piece.length >= this.#length && this.#length >= repetitionCharsMin;
    return isLong ? this.missingOf(piece) : undefined;
  }
}
