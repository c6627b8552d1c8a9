import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from '../world.ts';

/** Milliseconds of a clock that only goes forward. */
export const elapsed = () => performance.now();

/** The time, the randomness and the network of this process. */
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
