import type { EventView } from '../shared/contract/events.ts';
import { isEndOfRequest } from './call-row.ts';

/** With more calls in a second, digests of them are followed. */
const callsMax = 50;
/** With fewer, for a while, single calls are followed again. */
const calmCalls = 25;
const calmMs = 10_000;
const secondMs = 1000;

/** What is asked of the stream of events for digests: one a second, with the newest calls. */
export const digestQuery = { digest: 1000, rows: 50 };

/** How many calls end in a second, which decides how they are followed. */
export class CallPace {
  /** Whether digests are followed. */
  isDigest = false;
  #from = 0;
  #count = 0;
  #calmSince: number | undefined;

  /** Takes an event; true if calls are to be followed in the other form, which `isDigest` then names. */
  changes(event: Pick<EventView, 'type' | 'data'>, now: number): boolean {
    const mustChange = this.isDigest ? this.#isCalm(event, now) : this.#isTooFast(event, now);
    if (!mustChange) return false;
    this.isDigest = !this.isDigest;
    this.#count = 0;
    this.#calmSince = undefined;
    return true;
  }

  #isTooFast({ type }: Pick<EventView, 'type'>, now: number): boolean {
    if (!isEndOfRequest(type)) return false;
    if (now - this.#from >= secondMs) {
      this.#from = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count > callsMax;
  }

  /** A digest covers a second. */
  #isCalm({ type, data }: Pick<EventView, 'type' | 'data'>, now: number): boolean {
    if (type !== 'calls.digest') return false;
    if (Number(data.finished) >= calmCalls) this.#calmSince = undefined;
    else this.#calmSince ??= now;
    return this.#calmSince !== undefined && now - this.#calmSince >= calmMs;
  }
}
