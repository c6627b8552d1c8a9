/** Counts how often a text occurs in bytes that arrive in pieces, also where two pieces meet. */
export class PatternCounter {
  readonly #pattern: Buffer;
  #tail: Buffer = Buffer.alloc(0);
  count = 0;

  constructor(pattern: string) {
    this.#pattern = Buffer.from(pattern, 'latin1');
  }

  /** `onFound` gets the end position of each match that lies within this piece. */
  push(piece: Buffer, onFound?: (end: number) => void): void {
    const keep = this.#pattern.length - 1;
    if (this.#tail.length > 0) {
      const seam = Buffer.concat([this.#tail, piece.subarray(0, keep)]);
      if (seam.includes(this.#pattern)) this.count += 1;
      // A short piece is part of the next seam too.
      if (piece.length < keep) {
        this.#tail = seam.subarray(-keep);
        return;
      }
    }
    let at = piece.indexOf(this.#pattern);
    while (at >= 0) {
      this.count += 1;
      const end = at + this.#pattern.length;
      onFound?.(end);
      at = piece.indexOf(this.#pattern, end);
    }
    this.#tail = piece.subarray(-keep);
  }
}
