import type { Connection } from '../engine/connection.ts';
import { readMeta, writeMeta } from '../engine/meta.ts';
import { clock } from './term-length.ts';

export function daemonsWrites(database: Connection, daemon: number) {
  const remove = database.prepare<[number]>('DELETE FROM daemons WHERE number = ? AND successor IS NOT NULL');
  const setAddress = database.prepare<[string, number]>('UPDATE daemons SET address = ? WHERE number = ?');
  const adopt = database.prepare<[object]>(
    `UPDATE daemons SET successor = @daemon
     WHERE number = @from AND number <> @daemon AND coalesce(expires_at, 0) <= ${clock}
       AND (successor IS NULL OR successor = @daemon)`,
  );
  return {
    'daemons.markDataKey': ({ mark, isReplaced }: { mark: number; isReplaced: boolean }): number => {
      const stored = readMeta(database, 'data_key');
      if (stored !== undefined && !isReplaced) return stored;
      if (stored !== mark) writeMeta(database, 'data_key', mark);
      return mark;
    },
    'daemons.remove': (from: number): void => {
      remove.run(from);
    },
    'daemons.setAddress': (address: string): void => {
      setAddress.run(address, daemon);
    },
    'daemons.adopt': (from: number): boolean => adopt.run({ daemon, from }).changes > 0,
  };
}

export type DaemonsWrites = ReturnType<typeof daemonsWrites>;
