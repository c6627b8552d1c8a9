import type { SharedAnswer, SharedLimit, SlotsStore } from '../../../features/concurrency/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, inArray, integer, type Orm, sqliteTable, text } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';

/** A slot of a limit of concurrent calls that a call of a daemon has, or that is due to a daemon. */
export const callSlots = sqliteTable('call_slots', {
  number: integer().primaryKey(),
  /** The limit. */
  name: text().notNull(),
  daemon: integer().notNull(),
  /** 1 if the daemon waits for it. */
  isDue: integer().notNull(),
});

/**
 * SQL of how many slots of `@name` other daemons than `@daemon` have, and how many are due to them: to those that have waited for
 * longer than this one, or to all if this one does not wait.
 */
const elsewhereSql = `SELECT count(*) FROM call_slots AS other
  WHERE other.name = @name AND other.daemon <> @daemon AND (other.is_due = 0 OR other.number < coalesce(
    (SELECT own.number FROM call_slots AS own
     WHERE own.name = @name AND own.daemon = @daemon AND own.is_due = 1), 9007199254740991))`;

export function slotsStore({ database, daemon, orm, writer }: StoreContext<SlotsWrites>): SlotsStore {
  const elsewhere = database.prepare<[object], number>(elsewhereSql).pluck();
  const hasAny = (of: number) =>
    orm
      .select({ number: callSlots.number })
      .from(callSlots)
      .where(eq(callSlots.daemon, of))
      .limit(1)
      .get() !== undefined;
  return {
    take: (limits) => writer.write('slots.take', limits),
    elsewhere: async (names) => names.map((name) => elsewhere.get({ name, daemon }) ?? 0),
    release: (slots) => writer.write('slots.release', slots),
    leave: (names) => writer.write('slots.leave', names),
    releaseLeft: async (from) => (hasAny(from) ? await writer.write('slots.releaseLeft', from) : 0),
  };
}

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
