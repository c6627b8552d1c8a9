import { integer, sqliteTable, text } from '../engine/orm.ts';

/** A slot of a limit of concurrent calls that a call of a daemon has, or that is due to a daemon. */
export const callSlots = sqliteTable('call_slots', {
  number: integer().primaryKey(),
  /** The limit. */
  name: text().notNull(),
  daemon: integer().notNull(),
  /** 1 if the daemon waits for it. */
  isDue: integer().notNull(),
});
