import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `CachedAnswer`, when it was last used, and its size. */
export const cachedAnswers = sqliteTable(
  'cached_answers',
  {
    workspaceId: text().notNull(),
    digest: text().notNull(),
    requestId: text(),
    model: text().notNull(),
    providerModel: text().notNull(),
    createdAt: integer().notNull(),
    usedAt: integer().notNull(),
    expiresAt: integer().notNull(),
    bytes: integer().notNull(),
    events: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.digest] })],
);
