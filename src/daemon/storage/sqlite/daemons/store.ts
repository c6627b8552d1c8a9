import type { DaemonRecord, DaemonsStore } from '../../../features/daemons/store.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { clock, termMs } from './term-length.ts';
import type { DaemonsWrites } from './writes.ts';

type Row = Omit<DaemonRecord, 'isRunning'> & { isRunning: number };

export function daemonsStore({ database, daemon, writer }: StoreContext<DaemonsWrites>): DaemonsStore {
  const list = database.prepare<[object], Row>(
    `SELECT number, name, address, version, started_at AS "startedAt", expires_at - ${termMs} AS "renewedAt", successor,
       CASE WHEN successor IS NULL AND (number = @daemon OR expires_at > ${clock}) THEN 1 ELSE 0 END AS "isRunning"
     FROM daemons ORDER BY number`,
  );
  const left = database
    .prepare<[number], number>('SELECT number FROM daemons WHERE successor = ? ORDER BY number')
    .pluck();
  return {
    own: daemon,
    list: async () => list.all({ daemon }).map((row) => ({ ...row, isRunning: row.isRunning === 1 })),
    setAddress: (address) => writer.write('daemons.setAddress', address),
    left: async () => left.all(daemon),
    adopt: (from) => writer.write('daemons.adopt', from),
    markDataKey: (mark, { isReplaced }) => writer.write('daemons.markDataKey', { mark, isReplaced }),
    remove: (from) => writer.write('daemons.remove', from),
  };
}
