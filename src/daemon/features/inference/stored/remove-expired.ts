import type { OnFailure } from '../../../base/feature.ts';
import { repeatedly, type World } from '../../../base/world.ts';

const everyMs = 10 * 60 * 1000;
const batchSize = 500;

interface ExpiringStore {
  removeExpired(at: number, limit: number): Promise<number>;
}

/** Deletes what has expired until aborted, in batches, so that writes of calls get between; a stop does not wait for the rest. */
export function keepExpiredRemoved(
  stores: readonly ExpiringStore[],
  world: Pick<World, 'now' | 'sleep'>,
  signal: AbortSignal,
  onFailure: OnFailure,
): Promise<void> {
  return repeatedly(world, { everyMs, signal, onFailure }, async () => {
    for (const store of stores) {
      let removed = 1;
      while (removed > 0 && !signal.aborted) removed = await store.removeExpired(world.now(), batchSize);
    }
  });
}
