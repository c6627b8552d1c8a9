import { Semaphore } from '../../../shared/async/semaphore.ts';
import { ApiError } from '../../../shared/errors.ts';

/** So many decisions per slot wait; more are refused. */
const waitingPerSlot = 4;
const retryAfterSeconds = 2;

/**
 * Limits the decisions that run at a time. Those above the limit wait in order, up to four per slot: decisions are free and
 * need no key, so a flood of them must not keep the host's models busy for hours.
 */
export class DecisionSlots {
  /** A reload changes it. */
  readonly #settings: { readonly concurrentMax: number };
  readonly #slots: Semaphore;

  constructor(settings: { readonly concurrentMax: number }) {
    this.#settings = settings;
    this.#slots = new Semaphore(() => settings.concurrentMax);
  }

  /** Decisions that could start now. */
  get free(): number {
    const { running, waiting } = this.#slots;
    return Math.max(0, this.#settings.concurrentMax - running - waiting);
  }

  /**
   * Runs the work once a slot is free. Fails with `unavailable` if too many wait already, and with the signal's reason if it
   * aborts before the work starts.
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const { running, waiting } = this.#slots;
    if (waiting >= this.#settings.concurrentMax * waitingPerSlot) {
      throw new ApiError('unavailable', {
        message: `${running} decisions are running and ${waiting} are waiting. Try again in a moment.`,
        retryAfterSeconds,
      });
    }
    return await this.#slots.run(work, { signal });
  }
}
