import { integer, sqliteTable, text } from '../engine/orm.ts';

export const whispers = sqliteTable('whispers', {
  id: integer().primaryKey({ autoIncrement: true }),
  sender: integer().notNull(),
  recipient: integer().notNull(),
  createdAt: integer().notNull(),
  updatedAt: integer().notNull(),
  readAt: integer(),
  body: text().notNull(),
});
