import type { Log } from '../../base/log.ts';
import { nextChange } from './leading.ts';
import type { Members } from './members.ts';
import type { DaemonsStore } from './store.ts';

interface TakeOverOptions {
  store: Pick<DaemonsStore, 'left' | 'remove'>;
  log: Pick<Log, 'warn'>;
}

type Finish = (daemon: number) => Promise<unknown>;

/** Finishes what each daemon that is gone left behind. If this process ends meanwhile, another one does it again. */
export async function takeOver({ store, log }: TakeOverOptions, finish: Finish): Promise<void> {
  for (const daemon of await store.left()) {
    await finish(daemon);
    // Not awaited: until it is removed, its work is only looked for once more.
    store.remove(daemon).catch((error: unknown) => {
      log.warn({ err: error, daemon }, 'an earlier daemon could not be removed from the database');
    });
  }
}

/** The same whenever another daemon has ended, until aborted. */
export async function keepTakingOver(
  { members, ...options }: TakeOverOptions & { members: Pick<Members, 'hasLeft' | 'onChange'> },
  finish: Finish,
  { signal, onFailure }: { signal: AbortSignal; onFailure: (error: unknown) => void },
): Promise<void> {
  while (!signal.aborted) {
    if (members.hasLeft()) await takeOver(options, finish).catch(onFailure);
    await nextChange(members, signal);
  }
}
