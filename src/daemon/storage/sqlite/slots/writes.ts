import type { SharedAnswer, SharedLimit } from '../../../features/concurrency/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, inArray, type Orm } from '../engine/orm.ts';
import { elsewhereSql } from './elsewhere.ts';
import { callSlots } from './tables.ts';

export function slotsWrites(database: Connection, orm: Orm, daemon: number) {
  const elsewhere = database.prepare<[object], number>(elsewhereSql).pluck();
  const own = database
    .prepare<[object], number>(
      'SELECT count(*) FROM call_slots WHERE name = @name AND daemon = @daemon AND is_due = 0',
    )
    .pluck();
  const insert = database
    .prepare<[object], number>(
      `INSERT INTO call_slots (number, name, daemon, is_due)
       SELECT coalesce(max(number), 0) + 1, CAST(@name AS text), @daemon, @isDue FROM call_slots
       RETURNING number`,
    )
    .pluck();
  const due = database
    .prepare<[object], number>(
      'SELECT number FROM call_slots WHERE name = @name AND daemon = @daemon AND is_due = 1',
    )
    .pluck();
  const add = (name: string, isDue: 0 | 1) => insert.get({ name, daemon, isDue }) as number;
  const leave = (names: readonly string[]) => {
    orm
      .delete(callSlots)
      .where(and(inArray(callSlots.name, [...names]), eq(callSlots.daemon, daemon), eq(callSlots.isDue, 1)))
      .run();
  };
  return {
    'slots.take': (limits: readonly SharedLimit[]): SharedAnswer => {
      const counts = limits.map(({ name }) => elsewhere.get({ name, daemon }) ?? 0);
      const full = limits.filter(
        ({ name, calls }, index) => (counts[index] ?? 0) + (own.get({ name, daemon }) ?? 0) >= calls,
      );
      if (full.length > 0) {
        for (const { name } of full) if (due.get({ name, daemon }) === undefined) add(name, 1);
        return { taken: undefined, elsewhere: counts };
      }
      leave(limits.map(({ name }) => name));
      return { taken: limits.map(({ name }) => add(name, 0)), elsewhere: counts };
    },
    'slots.release': (numbers: readonly number[]): void => {
      orm
        .delete(callSlots)
        .where(and(inArray(callSlots.number, [...numbers]), eq(callSlots.daemon, daemon)))
        .run();
    },
    'slots.leave': leave,
    'slots.releaseLeft': (from: number): number =>
      orm.delete(callSlots).where(eq(callSlots.daemon, from)).run().changes,
  };
}

export type SlotsWrites = ReturnType<typeof slotsWrites>;
