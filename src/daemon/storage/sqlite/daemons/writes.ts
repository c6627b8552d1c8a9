import type { Connection } from '../engine/connection.ts';

export function daemonsWrites(database: Connection) {
  const remove = database.prepare<[number]>('DELETE FROM daemons WHERE number = ? AND successor IS NOT NULL');
  return {
    'daemons.remove': (daemon: number): void => {
      remove.run(daemon);
    },
  };
}

export type DaemonsWrites = ReturnType<typeof daemonsWrites>;
