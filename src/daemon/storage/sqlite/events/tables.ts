import { integer, sqliteTable, text } from '../engine/orm.ts';

/** `data` is JSON text: it is written on the hot path, already joined. */
export const events = sqliteTable('events', {
  sequence: integer('sequence').primaryKey(),
  type: text('type').notNull(),
  workspaceId: text('workspace_id').notNull(),
  at: integer('at').notNull(),
  data: text('data').notNull(),
});
