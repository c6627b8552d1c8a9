import type { DaemonsStore } from '../../../features/daemons/index.ts';
import type { StoreContext } from '../engine/store-context.ts';
import type { DaemonsWrites } from './writes.ts';

export function daemonsStore({ database, daemon, writer }: StoreContext<DaemonsWrites>): DaemonsStore {
  return {
    own: daemon,
    left: async () =>
      database
        .prepare<[number], number>('SELECT number FROM daemons WHERE successor = ? ORDER BY number')
        .pluck()
        .all(daemon),
    markDataKey: (mark, { isReplaced }) => writer.write('daemons.markDataKey', { mark, isReplaced }),
    remove: (daemon) => writer.write('daemons.remove', daemon),
  };
}
