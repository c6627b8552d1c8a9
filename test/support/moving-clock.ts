import type { Clock } from '../../src/daemon/base/world.ts';
import { machineClock } from '../../src/daemon/process/world-of-process.ts';

/** Longer timers end at once. */
const timerMaxMs = 2 ** 31 - 1;

interface Sleeper {
  /** By `elapsed`. */
  until: number;
  timer: NodeJS.Timeout | undefined;
  wake(): void;
}

/**
 * The machine's clock, which a test can put forward: what a daemon waits for is then due at once. It moves by itself as well, so
 * that what no test thinks of still happens.
 */
export class MovingClock implements Clock {
  #aheadMs = 0;
  #elapsedAheadMs = 0;
  readonly #sleepers = new Set<Sleeper>();

  now = () => machineClock.now() + this.#aheadMs;

  elapsed = () => machineClock.elapsed() + this.#elapsedAheadMs;

  sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal?.aborted) reject(signal.reason);
    else {
      const end = () => {
        clearTimeout(sleeper.timer);
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', abort);
      };
      const abort = () => {
        end();
        reject(signal?.reason);
      };
      const wake = () => {
        end();
        resolve();
      };
      const sleeper: Sleeper = { until: this.elapsed() + ms, timer: undefined, wake };
      signal?.addEventListener('abort', abort, { once: true });
      this.#sleepers.add(sleeper);
      this.#wind(sleeper);
    }
    return promise;
  };

  /** Puts both clocks forward, or the wall clock back, and wakes those whose time has come, the earliest first. */
  advance(ms: number): void {
    this.#aheadMs += ms;
    this.#elapsedAheadMs += Math.max(0, ms);
    for (const sleeper of [...this.#sleepers].sort((a, b) => a.until - b.until)) this.#wind(sleeper);
  }

  /** Sets the wall clock only, as a wrong time server does. */
  setWallClock(ms: number): void {
    this.#aheadMs += ms;
  }

  #wind(sleeper: Sleeper): void {
    clearTimeout(sleeper.timer);
    const leftMs = sleeper.until - this.elapsed();
    if (leftMs <= 0) sleeper.wake();
    else sleeper.timer = setTimeout(() => this.#wind(sleeper), Math.min(leftMs, timerMaxMs));
  }
}
