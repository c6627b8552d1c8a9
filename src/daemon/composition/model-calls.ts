import { Idempotency } from '../features/idempotency/index.ts';
import { Background, type InferenceDeps } from '../features/inference/index.ts';
import type { Storage } from '../storage/storage.ts';
import { repeatedly, type World } from '../world.ts';
import type { LiveSettings } from './live-settings.ts';

const expireEveryMs = 10 * 60 * 1000;
const expiredAtOnce = 500;

interface ModelCallsDeps {
  storage: Storage;
  world: World;
  live: Pick<LiveSettings, 'backgroundRunsMax'>;
  log: { warn(details: object, message: string): void };
}

export type ModelCalls = ReturnType<typeof modelCalls>;

/** What model calls leave behind, and what of them outlives its connection. */
export function modelCalls({ storage, world, live, log }: ModelCallsDeps, inference: InferenceDeps) {
  // Copied as they are: some of these are read anew at each call.
  const own = {
    world,
    background: storage.background,
    get runsMax() {
      return live.backgroundRunsMax;
    },
  };
  const background = new Background(
    Object.defineProperties(own as typeof own & InferenceDeps, Object.getOwnPropertyDescriptors(inference)),
  );
  const idempotency = new Idempotency({ store: storage.idempotency, world, log });
  return {
    inference,
    background,
    idempotency,
    /** Tells what became of calls that an earlier daemon left behind; to be called before the first call. */
    async recover(): Promise<void> {
      await Promise.all([background.recover(), idempotency.recover()]);
    },
    /** Waits so long for calls that run without a connection, then ends them. */
    async drain(deadlineMs: number): Promise<void> {
      await Promise.all([background.drain(deadlineMs), idempotency.drain(deadlineMs)]);
    },
    /** Drops what is kept too long, now and then, until aborted. */
    async keepExpiring(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
      await Promise.all([
        idempotency.keepPruned(signal, onFailure),
        repeatedly(world, { everyMs: expireEveryMs, signal, onFailure }, () =>
          removeExpired({ storage, world }, signal),
        ),
      ]);
    },
  };
}

/**
 * Deletes stored responses whose time is over, a bounded number at once so that writes of calls get between; a stop does
 * not wait for the rest of them.
 */
async function removeExpired(
  { storage, world }: Pick<ModelCallsDeps, 'storage' | 'world'>,
  signal: AbortSignal,
): Promise<void> {
  for (const store of [storage.responses, storage.background, storage.cache]) {
    let removed = 1;
    while (removed > 0 && !signal.aborted) removed = await store.removeExpired(world.now(), expiredAtOnce);
  }
}
