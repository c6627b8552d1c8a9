import { integer, sqliteTable, text } from '../engine/orm.ts';

export const whispers = sqliteTable('whispers', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  sender: integer('sender').notNull(),
  recipient: integer('recipient').notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  readAt: integer('read_at'),
  body: text('body').notNull(),
});
