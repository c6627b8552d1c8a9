import { integer, primaryKey, sql, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `BackgroundResponse`, and the daemon that generates it; `input` and `body` are empty once it has ended. */
export const backgroundResponses = sqliteTable('background_responses', {
  id: text().primaryKey(),
  workspaceId: text().notNull(),
  requestId: text().notNull(),
  previousId: text(),
  streamed: integer({ mode: 'boolean' }).notNull(),
  isRunning: integer({ mode: 'boolean' }).notNull(),
  lastSequence: integer(),
  createdAt: integer().notNull(),
  expiresAt: integer().notNull(),
  input: text().notNull(),
  body: text().notNull(),
  daemon: integer().notNull(),
});

/** Consecutive events of a response, as they were sent; the last one has `lastSequence`. */
export const responseEvents = sqliteTable(
  'response_events',
  { responseId: text().notNull(), lastSequence: integer().notNull(), text: text().notNull() },
  (table) => [primaryKey({ columns: [table.responseId, table.lastSequence] })],
);

/** A literal, as SQLite does not use a partial index for a bound value. */
export const isRunning = sql`${backgroundResponses.isRunning} = 1`;
