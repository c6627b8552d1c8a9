import { isEndOfRequest } from '../../../shared/calls/call-row.ts';

/** With more calls in a second, digests of them are followed. */
const callsMax = 50;
/** With fewer, for a while, single calls are followed again. */
const calmCalls = 25;
const calmMs = 10_000;
const secondMs = 1000;

/** How many calls end in a second, which decides how they are followed. */
export class CallPace {
  /** Whether digests are followed. */
  isDigest = false;
  #from = 0;
  #count = 0;
  #calmSince: number | undefined;

  /** Takes the end of single calls; true if there are too many of them. */
  isTooFast(type: string, now: number): boolean {
    if (!isEndOfRequest(type)) return false;
    if (now - this.#from >= secondMs) {
      this.#from = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count > callsMax;
  }

  /** Takes the number of calls that ended in a digest, which covers a second; true if there are few again. */
  isCalm(finished: number, now: number): boolean {
    if (finished >= calmCalls) this.#calmSince = undefined;
    else this.#calmSince ??= now;
    return this.#calmSince !== undefined && now - this.#calmSince >= calmMs;
  }

  change(isDigest: boolean): void {
    this.isDigest = isDigest;
    this.#count = 0;
    this.#calmSince = undefined;
  }
}
