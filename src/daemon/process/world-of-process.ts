import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from '../world.ts';

/** Milliseconds of a monotonic clock. */
export const elapsed = () => performance.now();

/** The clock, randomness and network of this process. */
export function worldOfProcess(send: World['send']): World {
  return {
    now: () => Date.now(),
    elapsed,
    sleep: async (ms, signal) => {
      await sleep(ms, undefined, { signal });
    },
    randomBytes: (count) => randomBytes(count),
    send,
  };
}
