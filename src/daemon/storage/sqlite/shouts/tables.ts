import { integer, sqliteTable, text } from '../engine/orm.ts';

export const shouts = sqliteTable('shouts', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  author: integer('author').notNull(),
  zone: text('zone').notNull(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  body: text('body').notNull(),
});
