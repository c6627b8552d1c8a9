/** The period that `requests_per_minute` covers. */
export const rateWindowMs = 60_000;

/**
 * A sliding window of request times, by a clock that members may differ in by `lateMs`. Times that are a window ahead are of a
 * clock that was set back since, and are dropped: calls must not be refused until it has caught up.
 */
export class RateWindow {
  #times: number[] = [];
  /** Index of the first time that is kept. */
  #first = 0;
  readonly #lateMs: number;

  constructor(lateMs = 0) {
    this.#lateMs = lateMs;
  }

  add(at: number): void {
    let index = this.#times.length;
    while (index > this.#first && (this.#times[index - 1] ?? 0) > at) index -= 1;
    if (index === this.#times.length) this.#times.push(at);
    else this.#times.splice(index, 0, at);
    // Drops old times even when no rate limit calls `waitMs`.
    this.#drop(this.#times.at(-1) ?? at);
  }

  /** Adds times that may be earlier than those that were added before. */
  addEarlier(times: readonly number[]): void {
    this.#times = [...times, ...this.#times.slice(this.#first)].sort((a, b) => a - b);
    this.#first = 0;
  }

  /** Milliseconds until another request is within the limit; 0 for now. */
  waitMs(limit: number, now: number): number {
    const first = this.#firstWithin(now);
    const over = this.#times.length - first - limit;
    if (over < 0) return 0;
    const leaves = (this.#times[first + over] ?? now) + rateWindowMs;
    return Math.max(1, leaves - now);
  }

  #firstWithin(now: number): number {
    while (this.#times.length > this.#first && (this.#times.at(-1) ?? 0) > now + rateWindowMs)
      this.#times.pop();
    this.#drop(now);
    let first = this.#first;
    if (this.#lateMs > 0) while ((this.#times[first] ?? now) <= now - rateWindowMs) first += 1;
    return first;
  }

  #drop(now: number): void {
    const until = now - rateWindowMs - this.#lateMs;
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? 0) <= until) this.#first += 1;
    // Compacts rarely, since it copies all remaining times.
    if (this.#first > 64 && this.#first * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
  }
}
