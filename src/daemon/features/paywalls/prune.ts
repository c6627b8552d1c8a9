import { utcDay } from '../../../shared/time/time.ts';
import type { OnFailure } from '../../base/feature.ts';
import { repeatedly, type World } from '../../base/world.ts';
import type { PaywallsStore } from './store.ts';

const everyMs = 10 * 60 * 1000;
/** Rows deleted in one write, during which calls wait for their holds. */
const batch = 100;
/** Longer than a payment can be under way. */
const unpaidKeptMs = 24 * 60 * 60 * 1000;

interface PruneDeps {
  store: Pick<PaywallsStore, 'prune'>;
  world: Pick<World, 'sleep'>;
  /** A time that is certain to have passed. */
  sure: () => number;
}

/** Deletes what was not paid and what days have counted, until aborted. */
export function keepPruned({ store, world, sure }: PruneDeps, signal: AbortSignal, onFailure: OnFailure) {
  return repeatedly(world, { everyMs, signal, onFailure }, async () => {
    const now = sure();
    const bounds = { expiredBefore: now - unpaidKeptMs, day: utcDay(now), limit: batch };
    while (!signal.aborted && (await store.prune(bounds)) > 0);
  });
}
