import type { Connection } from '../engine/connection.ts';
import { readMeta, writeMeta } from '../engine/meta.ts';

export function daemonsWrites(database: Connection) {
  const remove = database.prepare<[number]>('DELETE FROM daemons WHERE number = ? AND successor IS NOT NULL');
  return {
    'daemons.markDataKey': ({ mark, isReplaced }: { mark: number; isReplaced: boolean }): number => {
      const stored = readMeta(database, 'data_key');
      if (stored !== undefined && !isReplaced) return stored;
      if (stored !== mark) writeMeta(database, 'data_key', mark);
      return mark;
    },
    'daemons.remove': (daemon: number): void => {
      remove.run(daemon);
    },
  };
}

export type DaemonsWrites = ReturnType<typeof daemonsWrites>;
