/** When the clock goes from one time back to an earlier one. In milliseconds since 1970. */
export interface SetBack {
  /** The latest time that it had shown. */
  seen: number;
  at: number;
}

/** Of a credential that a caller was refused at a doubtful time. In milliseconds since 1970. */
export interface Refusal {
  /** Of the key, token or login. */
  id: string;
  expiry: number;
  /** The latest time that is not doubtful. */
  at: number;
}

export interface PassedTimeDeps {
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
  /** Milliseconds of a clock that only goes forward. */
  elapsed: () => number;
  /** The latest time that was noted by an earlier process. */
  noted: number;
  /** Stores the latest time, for the next start, and resolves to whether it did: a time that is doubtful after the stored one is not. */
  note(at: number): Promise<boolean>;
  /** The same for a time that is not doubtful any more. */
  trust(at: number): Promise<boolean>;
  /** Lets what had expired by `seen` be expired at `at`, too, here and in what daemons keep in memory. */
  setBack(times: SetBack): Promise<unknown>;
  /** The same for one credential. */
  refuse(refusal: Refusal): Promise<unknown>;
}

interface Reading {
  at: number;
  elapsed: number;
}

/** A wall clock that is put forward by more, other than by time that passes, is wrong, or was off. */
const doubtfulMs = 5 * 60_000;
/** One that has shown a doubtful time for so long is believed. */
const believedAfterMs = 10 * 60_000;
/** Nothing is off for so long: a clock that is put forward by more is most likely wrong. */
const unlikelyMs = 366 * 24 * 60 * 60_000;
const unlikelyBelievedAfterMs = 60 * 60_000;
const noteEveryMs = 60_000;
/** A clock that is set back by less is waited for. */
const heldMs = 10_000;
/** What any thread has seen of a clock that runs is less ahead of what is stored. */
export const aheadMsMax = 2 * noteEveryMs;

/** Whether a clock that shows `at` may be wrong, where the latest known time is `seen`. */
export function isDoubtful(at: number, seen: number): boolean {
  return seen > 0 && at - seen > doubtfulMs;
}

/**
 * The one notion of what has expired: what had expired once stays expired when the clock is set back. Whatever compares an expiry
 * asks `at`, not the clock. A time that is doubtful ends nothing for good but what a caller was refused.
 */
export class PassedTime {
  readonly #deps: PassedTimeDeps;
  readonly #preparations: (() => Promise<void>)[] = [];
  #seen: number;
  #noted: number;
  /** When the clocks last agreed. */
  #sure: Reading;
  /** Since when they do not. */
  #doubt: Reading | undefined;
  /** The credentials that were refused since then. */
  readonly #refused = new Set<string>();
  #handled: Promise<void> | undefined;

  constructor(deps: PassedTimeDeps) {
    this.#deps = deps;
    this.#seen = deps.noted;
    this.#noted = deps.noted;
    this.#sure = { at: deps.noted, elapsed: deps.elapsed() };
  }

  /** The clock; after it was set back, the latest time that it had shown, until what had expired by then is stored as such. */
  readonly at = (): number => {
    const at = this.#deps.now();
    if (at < this.#seen) {
      if (this.#seen - at > heldMs) this.#handled ??= this.#setBack(at);
      return this.#seen;
    }
    if (at - this.#sure.at >= noteEveryMs && !this.#agrees(at)) return at;
    if (this.#doubt) this.#endDoubt();
    this.#seen = at;
    return at;
  };

  /** The same without a time that is doubtful: what ends without a call of its holder ends by it. */
  readonly sure = (): number => {
    const at = this.at();
    return this.#doubt ? this.#sure.at + this.#deps.elapsed() - this.#sure.elapsed : at;
  };

  /** Stores that a credential was refused for its expiry, so that it stays so, also over a restart. */
  readonly noteExpiry = (id: string, expiry: number): void => {
    if (this.#doubt) void this.#refuse(id, expiry);
    else if (expiry > this.#noted && expiry <= this.#seen) this.#note();
  };

  /** Runs before what has expired is stored as such. */
  beforeExpiring(prepare: () => Promise<void>): void {
    this.#preparations.push(prepare);
  }

  /** Whether the time is not doubtful, or not any more. */
  #agrees(at: number): boolean {
    const reading = { at, elapsed: this.#deps.elapsed() };
    const ahead = aheadOf(this.#sure, reading);
    if (ahead > doubtfulMs && !this.#isBelieved(reading, ahead)) return false;
    this.#sure = reading;
    this.#seen = at;
    this.#note();
    return true;
  }

  #isBelieved(reading: Reading, ahead: number): boolean {
    const doubt = this.#doubt;
    if (doubt === undefined || Math.abs(aheadOf(doubt, reading)) > doubtfulMs) {
      this.#doubt = reading;
      return false;
    }
    const afterMs = ahead > unlikelyMs ? unlikelyBelievedAfterMs : believedAfterMs;
    return reading.elapsed - doubt.elapsed >= afterMs;
  }

  #endDoubt(): void {
    this.#doubt = undefined;
    this.#refused.clear();
  }

  #note(): void {
    const before = this.#noted;
    const seen = this.#seen;
    this.#noted = seen;
    const noting = isDoubtful(seen, before) ? this.#deps.trust(seen) : this.#deps.note(seen);
    const again = () => {
      this.#noted = Math.min(this.#noted, before);
    };
    void noting.then((isNoted) => isNoted || again(), again);
  }

  async #refuse(id: string, expiry: number): Promise<void> {
    const { at } = this.#sure;
    const isUnlikely = this.#deps.now() - at > unlikelyMs;
    if (isUnlikely || expiry <= at || this.#refused.has(id)) return;
    this.#refused.add(id);
    try {
      await this.#deps.refuse({ id, expiry, at });
    } catch {
      // The next refusal tries again.
      this.#refused.delete(id);
    }
  }

  async #setBack(at: number): Promise<void> {
    this.#endDoubt();
    const seen = this.#seen;
    const reading = { at, elapsed: this.#deps.elapsed() };
    try {
      // All writes are queued before any of a call that comes now, which may make a credential.
      const prepared = this.#preparations.map((prepare) => prepare().catch(() => {}));
      await this.#deps.setBack({ seen, at });
      await Promise.all(prepared);
      // It may have been set forward meanwhile, or back further.
      if (this.#seen === seen) this.#seen = Math.max(at, this.#deps.now());
      this.#noted = at;
      this.#sure = reading;
    } catch {
      // The next comparison tries again.
    } finally {
      this.#handled = undefined;
    }
  }
}

/** By how much the wall clock was put forward between two readings. */
function aheadOf(before: Reading, after: Reading): number {
  return after.at - before.at - (after.elapsed - before.elapsed);
}
