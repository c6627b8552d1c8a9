import { hash } from 'node:crypto';
import type { OutgoingRequest, World } from '../../src/daemon/base/world.ts';

/** A deterministic world: time only moves with `advance`, and random bytes are the same in each run. */
export interface FakeWorld extends World {
  /** Moves both clocks and wakes the sleepers that are due, in order. */
  advance(ms: number): Promise<void>;
  /** Moves only the wall clock, in milliseconds, without waking sleepers. */
  shiftWallClock(ms: number): void;
  /** The number of sleepers. */
  sleeping(): number;
}

/** 21 November 2026, 08:00 UTC. */
export const startOfFakeTime = Date.UTC(2026, 10, 21, 8);

/** What has passed by a clock that is never set back. */
export const passedBy = (at: () => number) => ({ at, sure: at, noteExpiry: () => {} });

/** `send` answers outgoing calls; without it they fail the test. */
export function fakeWorld(options: { send?: World['send']; now?: number } = {}): FakeWorld {
  const start = options.now ?? startOfFakeTime;
  let elapsed = 0;
  let shift = 0;
  let draws = 0;
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    now: () => start + elapsed + shift,
    elapsed: () => elapsed,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        const sleeper = { until: elapsed + ms, wake: resolve };
        sleepers.add(sleeper);
        const abort = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        if (signal?.aborted) abort();
        else signal?.addEventListener('abort', abort, { once: true });
      });
    },
    randomBytes(count) {
      const bytes = new Uint8Array(count);
      for (let at = 0; at < count; at += 64) {
        bytes.set(hash('sha512', `${draws++}`, 'buffer').subarray(0, Math.min(64, count - at)), at);
      }
      return bytes;
    },
    send:
      options.send ??
      ((request: OutgoingRequest) =>
        Promise.reject(new Error(`unasked call: ${request.method} ${request.url}`))),
    async advance(ms) {
      const target = elapsed + ms;
      for (;;) {
        const next = [...sleepers]
          .filter(({ until }) => until <= target)
          .sort((a, b) => a.until - b.until)[0];
        if (!next) break;
        sleepers.delete(next);
        elapsed = Math.max(elapsed, next.until);
        next.wake();
        await settled();
      }
      elapsed = target;
      await settled();
    },
    shiftWallClock(ms) {
      shift += ms;
    },
    sleeping: () => sleepers.size,
  };
}

/** Runs everything that is ready. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
