import { integer, sqliteTable, text } from '../engine/orm.ts';

export const shouts = sqliteTable('shouts', {
  id: integer().primaryKey({ autoIncrement: true }),
  author: integer().notNull(),
  zone: text().notNull(),
  createdAt: integer().notNull(),
  updatedAt: integer().notNull(),
  body: text().notNull(),
});
