/** Numbers in a millisecond. */
const perMs = 1_024;

/** Numbers calls in the order in which they come, by their time, so that they grow also over restarts. */
export class ContentNumbers {
  #last = 0;
  #now = 0;

  /** Milliseconds since 1970. */
  setTime(now: number): void {
    this.#now = now;
  }

  next(): number {
    this.#last = Math.max(this.#last + 1, numberAt(this.#now));
    return this.#last;
  }

  /** The next ones are higher than this one, also after the clock was set back. */
  continueAfter(number: number): void {
    this.#last = Math.max(this.#last, number);
  }
}

/** The first number of a time, in milliseconds since 1970. */
export function numberAt(ms: number): number {
  return Math.floor(ms) * perMs;
}
