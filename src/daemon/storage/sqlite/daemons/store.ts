import type { DaemonsStore } from '../../../features/daemons/index.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { ownDaemon } from './own-daemon.ts';
import type { DaemonsWrites } from './writes.ts';

export function daemonsStore({ database, writer }: StoreContext<DaemonsWrites>): DaemonsStore {
  return {
    own: ownDaemon(database),
    left: async () =>
      database
        .prepare<[], number>('SELECT number FROM daemons WHERE successor IS NOT NULL ORDER BY number')
        .pluck()
        .all(),
    remove: (daemon) => writer.write('daemons.remove', daemon),
  };
}
