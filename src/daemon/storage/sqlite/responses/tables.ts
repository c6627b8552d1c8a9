import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `StoredResponse`, name for name. */
export const responses = sqliteTable('responses', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  requestId: text('request_id').notNull(),
  previousId: text('previous_id'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  output: text('output').notNull(),
  input: text('input').notNull(),
  body: text('body').notNull(),
});

/** Where an item is: the `position` (from 0) in the list that `place` names. Its text stays there alone. */
export const responseItems = sqliteTable(
  'response_items',
  {
    itemId: text('item_id').notNull(),
    responseId: text('response_id').notNull(),
    place: text('place').$type<'input' | 'output'>().notNull(),
    position: integer('position').notNull(),
  },
  (table) => [primaryKey({ columns: [table.itemId, table.responseId] })],
);
