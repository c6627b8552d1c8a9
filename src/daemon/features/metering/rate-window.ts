/** The period that `requests_per_minute` covers. */
export const rateWindowMs = 60_000;

/** A sliding window of request times, by a monotonic clock. */
export class RateWindow {
  #times: number[] = [];
  /** Index of the first time within the window. */
  #first = 0;

  add(at: number): void {
    this.#times.push(at);
    // Drops old times even when no rate limit calls `count`.
    this.count(at);
  }

  /** Adds earlier times, loaded after newer ones were added. */
  addEarlier(times: readonly number[]): void {
    this.#times = [...times, ...this.#times.slice(this.#first)].sort((a, b) => a - b);
    this.#first = 0;
  }

  count(now: number): number {
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? 0) <= now - rateWindowMs) {
      this.#first += 1;
    }
    // Compacts rarely, since it copies all remaining times.
    if (this.#first > 64 && this.#first * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
    return this.#times.length - this.#first;
  }

  /** Milliseconds until another request is within the limit; 0 for now. */
  waitMs(limit: number, now: number): number {
    const over = this.count(now) - limit;
    if (over < 0) return 0;
    const leaves = (this.#times[this.#first + over] ?? now) + rateWindowMs;
    return Math.max(1, leaves - now);
  }
}
