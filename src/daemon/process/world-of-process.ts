import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, World } from '../base/world.ts';

/** The clock of this machine. */
export const machineClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (ms, signal) => {
    await sleep(ms, undefined, { signal });
  },
};

/** The clock, randomness and network of this process. */
export function worldOfProcess(send: World['send'], clock = machineClock): World {
  return {
    ...clock,
    randomBytes: (count) => randomBytes(count),
    send,
  };
}
