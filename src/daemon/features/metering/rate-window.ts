/** A limit of requests per minute counts those of the last so many milliseconds. */
export const rateWindowMs = 60_000;

/** Times of a clock that only goes forward, as far as they are within the window. */
export class RateWindow {
  #times: number[] = [];
  /** Where those within the window begin. */
  #first = 0;

  add(at: number): void {
    this.#times.push(at);
    // Where no rate is limited nobody counts, and what has left the window would stay for ever.
    this.count(at);
  }

  /** Puts earlier times before those that were added meanwhile. */
  addEarlier(times: readonly number[]): void {
    this.#times = [...times, ...this.#times.slice(this.#first)].sort((a, b) => a - b);
    this.#first = 0;
  }

  count(now: number): number {
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? 0) <= now - rateWindowMs) {
      this.#first += 1;
    }
    // Moving all the others takes as long as there are: not at each one that leaves.
    if (this.#first > 64 && this.#first * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
    return this.#times.length - this.#first;
  }

  /** Milliseconds until one more fits within a limit; 0 when it does now. */
  waitMs(limit: number, now: number): number {
    const over = this.count(now) - limit;
    if (over < 0) return 0;
    const leaves = (this.#times[this.#first + over] ?? now) + rateWindowMs;
    return Math.max(1, leaves - now);
  }
}
