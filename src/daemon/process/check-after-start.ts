import type { ServeOptions } from '../../shared/daemon-module.ts';
import type { World } from '../base/world.ts';
import type { Storage } from '../storage/storage.ts';
import type { PinoLog } from './create-log.ts';

/** Loading prices holds the process for some 40 ms, in which the first calls would wait. */
const pricesAfterMs = 500;

interface SlowParts {
  catalog: { load(): Promise<unknown> };
  configWarnings(): Promise<readonly { setting: string; message: string }[]>;
}

interface Surroundings extends Pick<ServeOptions, 'stderr'> {
  storage: Pick<Storage, 'checkIfDue'>;
  log: PinoLog;
  world: Pick<World, 'sleep'>;
}

/** Loads the prices and checks the data: slow, and not needed before the first call. Never rejects. */
export async function checkAfterStart(
  app: SlowParts,
  { storage, log, stderr, world }: Surroundings,
  stopped: AbortSignal,
): Promise<void> {
  await world.sleep(pricesAfterMs, stopped).catch(() => {});
  if (stopped.aborted) return;
  try {
    await app.catalog.load();
    for (const { setting, message } of await app.configWarnings()) {
      log.warn({ setting }, message);
      stderr.write(`Warning: ${setting}: ${message}\n`);
    }
  } catch (error) {
    log.warn({ err: error }, 'prices could not be loaded');
  }
  if (stopped.aborted) return;
  try {
    const { ok, problems } = (await storage.checkIfDue()) ?? { ok: true };
    if (!ok) log.error({ problems }, 'data check failed; nothing is written any more');
  } catch (error) {
    // A stop does not wait for a long check.
    if (!stopped.aborted) log.warn({ err: error }, 'data could not be checked');
  }
}
