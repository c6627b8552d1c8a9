import { integer, sqliteTable, text } from '../engine/orm.ts';

/** `data` is JSON text, because the hot path writes it without Drizzle. */
export const events = sqliteTable('events', {
  sequence: integer().primaryKey(),
  type: text().notNull(),
  workspaceId: text().notNull(),
  at: integer().notNull(),
  data: text().notNull(),
});
