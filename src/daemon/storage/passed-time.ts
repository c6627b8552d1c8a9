/** When the clock goes from one time back to an earlier one. In milliseconds since 1970. */
export interface SetBack {
  /** The latest time that it had shown. */
  seen: number;
  at: number;
}

export interface PassedTimeDeps {
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
  /** The latest time that was noted by an earlier process. */
  noted: number;
  /** Stores the latest time, for the next start. Never throws. */
  note(at: number): void;
  /** The same for a time that is doubtful after the one that is stored. */
  trust(at: number): void;
  /** Lets what had expired by `seen` be expired at `at`, too, here and in what daemons keep in memory. */
  expire(times: SetBack): Promise<void>;
}

/** A clock that is put forward by more at once is wrong, or was off for long. */
const doubtfulMs = 366 * 24 * 60 * 60 * 1000;
/** A clock that has shown a doubtful time for so long is believed. */
const trustedAfterMs = 60 * 60 * 1000;
const noteEveryMs = 60_000;

/** Whether a clock that shows `at` may be wrong, where the latest known time is `seen`. */
export function isDoubtful(at: number, seen: number): boolean {
  return seen > 0 && at - seen > doubtfulMs;
}

/**
 * The one notion of what has expired: what had expired once stays expired when the clock is set back. Whatever compares an expiry
 * asks `at`, not the clock.
 */
export class PassedTime {
  readonly #deps: PassedTimeDeps;
  readonly #preparations: (() => Promise<void>)[] = [];
  #seen: number;
  #noted: number;
  #doubtfulSince: number | undefined;
  #handled: Promise<void> | undefined;

  constructor(deps: PassedTimeDeps) {
    this.#deps = deps;
    this.#seen = deps.noted;
    this.#noted = deps.noted;
  }

  /**
   * The clock; after it was set back, the latest time that it had shown, until what had expired by then is stored as such. A doubtful
   * time expires nothing for good.
   */
  readonly at = (): number => {
    const at = this.#deps.now();
    if (at < this.#seen) {
      this.#handled ??= this.#setBack(at);
      return this.#seen;
    }
    if (isDoubtful(at, this.#seen)) {
      this.#doubtfulSince ??= at;
      if (at - this.#doubtfulSince < trustedAfterMs) return at;
      this.#deps.trust(at);
      this.#noted = at;
    }
    this.#doubtfulSince = undefined;
    this.#seen = at;
    if (at - this.#noted >= noteEveryMs) this.#note();
    return at;
  };

  /** Stores that an expiry has passed, so that it stays so over a restart. */
  readonly noteExpiry = (expiry: number): void => {
    if (expiry > this.#noted && expiry <= this.#seen) this.#note();
  };

  /** Runs before what has expired is stored as such. */
  beforeExpiring(prepare: () => Promise<void>): void {
    this.#preparations.push(prepare);
  }

  #note(): void {
    this.#noted = this.#seen;
    this.#deps.note(this.#seen);
  }

  async #setBack(at: number): Promise<void> {
    this.#doubtfulSince = undefined;
    try {
      // First the latest time, which then says whether another thread has done the same.
      if (this.#seen > this.#noted) this.#note();
      // All writes are queued before any of a call that comes now, which may make a credential.
      const prepared = this.#preparations.map((prepare) => prepare().catch(() => {}));
      await this.#deps.expire({ seen: this.#seen, at });
      await Promise.all(prepared);
      this.#seen = this.#deps.now();
      this.#noted = at;
    } catch {
      // The next comparison tries again.
    } finally {
      this.#handled = undefined;
    }
  }
}
