import { Concurrency } from '../features/concurrency/index.ts';
import type { AppDeps } from './app-deps.ts';

/** The limits of concurrent calls. Only the daemons of a server share its database. */
export function createConcurrency({ storage, world, settings, log }: AppDeps) {
  const store = storage.server && storage.slots;
  return { concurrency: new Concurrency({ world, settings, store, log }) };
}
