import { Idempotency } from '../features/idempotency/index.ts';
import { Background, type InferenceDeps } from '../features/inference/index.ts';
import { createDataSealer } from '../features/vault/index.ts';
import type { Log } from '../log.ts';
import type { Storage } from '../storage/storage.ts';
import { repeatedly, type World } from '../world.ts';

const expireEveryMs = 10 * 60 * 1000;
const expireBatchSize = 500;

interface ModelCallsDeps {
  storage: Storage;
  world: World;
  /** Seals stored answers with secrets; 32 bytes. */
  dataKey: Uint8Array;
  log: Pick<Log, 'warn'>;
}

export type ModelCalls = ReturnType<typeof createModelCalls>;

/** Joins model calls with background responses and idempotency. */
export function createModelCalls({ storage, world, dataKey, log }: ModelCallsDeps, inference: InferenceDeps) {
  const background = new Background({ ...inference, world, background: storage.background });
  const sealer = createDataSealer(dataKey, (count) => world.randomBytes(count));
  const idempotency = new Idempotency({ store: storage.idempotency, sealer, world, log });
  return {
    inference,
    background,
    idempotency,
    /** Finishes the calls that an earlier daemon left behind; to be called before the first call. */
    async recover(): Promise<void> {
      await Promise.all([background.recover(), idempotency.recover()]);
    },
    /** Waits for calls that run without a connection until the deadline, then cancels them. */
    async drain(deadlineMs: number): Promise<void> {
      await Promise.all([background.drain(deadlineMs), idempotency.drain(deadlineMs)]);
    },
    /** Deletes expired responses, cached answers and idempotency keys periodically, until aborted. */
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

/** Deletes in batches, so that writes of calls get between; a stop does not wait for the rest. */
async function removeExpired(
  { storage, world }: Pick<ModelCallsDeps, 'storage' | 'world'>,
  signal: AbortSignal,
): Promise<void> {
  for (const store of [storage.responses, storage.background, storage.cache]) {
    let removed = 1;
    while (removed > 0 && !signal.aborted) removed = await store.removeExpired(world.now(), expireBatchSize);
  }
}
