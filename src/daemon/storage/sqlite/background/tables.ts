import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `BackgroundResponse`, name for name; `input` and `body` are empty once it has ended. */
export const backgroundResponses = sqliteTable('background_responses', {
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  requestId: text('request_id').notNull(),
  previousId: text('previous_id'),
  streamed: integer('streamed', { mode: 'boolean' }).notNull(),
  isRunning: integer('is_running', { mode: 'boolean' }).notNull(),
  lastSequence: integer('last_sequence'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  input: text('input').notNull(),
  body: text('body').notNull(),
});

/** Some events of one response in a row, as they were sent; the last of them has `lastSequence`. */
export const responseEvents = sqliteTable(
  'response_events',
  {
    responseId: text('response_id').notNull(),
    lastSequence: integer('last_sequence').notNull(),
    text: text('text').notNull(),
  },
  (table) => [primaryKey({ columns: [table.responseId, table.lastSequence] })],
);
