import type { ApiError } from '../../../../shared/errors.ts';

/** A call that a limit leaves too little. */
export interface Refused {
  error: ApiError;
  /** The limit, if running calls hold what the call lacks of it. */
  limit: string | undefined;
  /** Called if it stays refused. */
  onRefused?: () => void;
}

interface HoldQueueOptions {
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** How often the first call of a limit asks again although nothing was reported: for what other members end. */
  askEveryMs: number;
}

interface Waiter {
  /** Resolves when it may ask again. */
  turn: PromiseWithResolvers<void>;
}

/** How long a call waits at most. */
const patienceMs = 250;

/**
 * Calls that a limit leaves too little only because of what running calls hold, most of which will be left when they end: they
 * wait for that, and are then decided in their order by what is left.
 */
export class HoldQueue {
  readonly #options: HoldQueueOptions;
  /** By limit. */
  readonly #waiting = new Map<string, Waiter[]>();
  /** How many calls ended so far. */
  #ended = 0;

  constructor(options: HoldQueueOptions) {
    this.#options = options;
  }

  /** Tries to start a call, and again each time that it may succeed. Fails with the error of the last attempt. */
  async start<H extends object>(attempt: () => Promise<H | Refused>): Promise<H> {
    const ended = this.#ended;
    let outcome = await attempt();
    if (isRefused(outcome) && outcome.limit !== undefined)
      outcome = await this.#wait(outcome.limit, { attempt, isOutdated: this.#ended !== ended });
    if (!isRefused(outcome)) return outcome;
    outcome.onRefused?.();
    throw outcome.error;
  }

  /** A running call ended, and what it was charged is counted. */
  readonly released = (): void => {
    this.#ended += 1;
    for (const [first] of this.#waiting.values()) first?.turn.resolve();
  };

  /** `isOutdated`: whether a call ended while the last attempt was made. */
  async #wait<H extends object>(
    limit: string,
    { attempt, isOutdated }: { attempt: () => Promise<H | Refused>; isOutdated: boolean },
  ): Promise<H | Refused> {
    const waiter: Waiter = { turn: Promise.withResolvers() };
    if (isOutdated) waiter.turn.resolve();
    const queue = this.#waiting.get(limit) ?? [];
    queue.push(waiter);
    if (queue.length === 1) {
      this.#waiting.set(limit, queue);
      void this.#askRegularly(limit, queue);
    }
    const left = new AbortController();
    let isLate = false;
    this.#options.sleep(patienceMs, left.signal).then(
      () => {
        isLate = true;
        waiter.turn.resolve();
      },
      () => {},
    );
    try {
      for (;;) {
        await waiter.turn.promise;
        const isLast = isLate;
        waiter.turn = Promise.withResolvers();
        const outcome = await attempt();
        const isDecided = !isRefused(outcome) || outcome.limit === undefined;
        // There may be enough for the next one, too, or no longer for any.
        if (isDecided) queue[queue.indexOf(waiter) + 1]?.turn.resolve();
        if (isDecided || isLast) return outcome;
      }
    } finally {
      left.abort();
      queue.splice(queue.indexOf(waiter), 1);
      if (queue.length === 0) this.#waiting.delete(limit);
    }
  }

  async #askRegularly(limit: string, queue: readonly Waiter[]): Promise<void> {
    const { sleep, askEveryMs } = this.#options;
    for (;;) {
      await sleep(askEveryMs);
      if (this.#waiting.get(limit) !== queue) return;
      queue[0]?.turn.resolve();
    }
  }
}

export function isRefused(outcome: object): outcome is Refused {
  return 'error' in outcome;
}
