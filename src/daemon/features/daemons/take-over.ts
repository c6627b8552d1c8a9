import type { Log } from '../../log.ts';
import type { DaemonsStore } from './store.ts';

interface TakeOverOptions {
  store: Pick<DaemonsStore, 'left' | 'remove'>;
  log: Pick<Log, 'warn'>;
}

/** Finishes what each daemon that is gone left behind. If this process ends meanwhile, the next one does it again. */
export async function takeOver(
  { store, log }: TakeOverOptions,
  finish: (daemon: number) => Promise<unknown>,
): Promise<void> {
  for (const daemon of await store.left()) {
    await finish(daemon);
    // Not awaited: until it is removed, its work is only looked for once more.
    store.remove(daemon).catch((error: unknown) => {
      log.warn({ err: error, daemon }, 'an earlier daemon could not be removed from the database');
    });
  }
}
