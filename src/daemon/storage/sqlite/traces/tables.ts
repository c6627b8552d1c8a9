import { integer, sqliteTable, text } from '../engine/orm.ts';

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
