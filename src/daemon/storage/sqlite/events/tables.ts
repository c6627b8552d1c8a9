import { integer, sqliteTable, text } from '../engine/orm.ts';

/** `data` is JSON text: it is written on the hot path, already joined. */
export const events = sqliteTable('events', {
  sequence: integer().primaryKey(),
  type: text().notNull(),
  workspaceId: text().notNull(),
  at: integer().notNull(),
  data: text().notNull(),
});
