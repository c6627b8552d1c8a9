import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `StoredResponse`. */
export const responses = sqliteTable('responses', {
  id: text().primaryKey(),
  workspaceId: text().notNull(),
  requestId: text().notNull(),
  previousId: text(),
  createdAt: integer().notNull(),
  expiresAt: integer().notNull(),
  output: text().notNull(),
  input: text().notNull(),
  body: text().notNull(),
});

/** Finds an item by id: its `position`, from 0, in the list named by `place`. The item itself is stored only there. */
export const responseItems = sqliteTable(
  'response_items',
  {
    itemId: text().notNull(),
    responseId: text().notNull(),
    place: text().$type<'input' | 'output'>().notNull(),
    position: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.itemId, table.responseId] })],
);
