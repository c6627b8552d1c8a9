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
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(settings: { readonly concurrentMax: number }) {
    this.#settings = settings;
  }

  /** Decisions that could start now. */
  get free(): number {
    return Math.max(0, this.#settings.concurrentMax - this.#running - this.#waiting.size);
  }

  /**
   * Runs the work once a slot is free. Fails with `unavailable` if too many wait already, and with the signal's reason if it
   * aborts before the work starts.
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { concurrentMax } = this.#settings;
    if (this.#running < concurrentMax && this.#waiting.size === 0) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.size >= concurrentMax * waitingPerSlot) {
      throw new ApiError('unavailable', {
        message: `${this.#running} decisions are running and ${this.#waiting.size} are waiting. Try again in a moment.`,
        retryAfterSeconds,
      });
    }
    const turn = Promise.withResolvers<void>();
    const onAbort = () => {
      this.#waiting.delete(turn.resolve);
      turn.reject(signal.reason);
    };
    this.#waiting.add(turn.resolve);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Gives slots to those who waited longest. The one who gets a slot counts as running from then on. */
  #leave(): void {
    this.#running -= 1;
    for (const start of this.#waiting) {
      if (this.#running >= this.#settings.concurrentMax) return;
      this.#waiting.delete(start);
      this.#running += 1;
      start();
    }
  }
}
