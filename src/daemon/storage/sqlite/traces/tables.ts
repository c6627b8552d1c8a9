import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** The workspace is empty for an unknown caller. */
export const rejections = sqliteTable('rejections', {
  requestId: text().primaryKey(),
  workspaceId: text().notNull(),
  keyId: text(),
  address: text(),
  endpoint: text().notNull(),
  model: text(),
  streamed: integer({ mode: 'boolean' }).notNull(),
  httpStatus: integer(),
  errorCode: text().notNull(),
  param: text(),
  message: text().notNull(),
  totalMs: integer().notNull(),
  createdAt: integer().notNull(),
  completedAt: integer().notNull(),
  more: integer().notNull(),
  client: text(),
  endUser: text(),
  conversation: text(),
  /** See `tagsText`. */
  tags: text(),
  replayOf: text(),
});

/** Those that were removed, by quarter of an hour; an empty text stands for none. */
export const rejectionTotals = sqliteTable(
  'rejection_totals',
  {
    workspaceId: text().notNull(),
    slot: integer().notNull(),
    errorCode: text().notNull(),
    keyId: text().notNull(),
    model: text().notNull(),
    client: text().notNull(),
    calls: integer().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.workspaceId, table.slot, table.errorCode, table.keyId, table.model, table.client],
    }),
  ],
);
