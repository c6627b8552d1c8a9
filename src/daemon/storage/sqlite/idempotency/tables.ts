import { blob, integer, primaryKey, sql, sqliteTable, text } from '../engine/orm.ts';

/** Claimed idempotency keys; `headers` and `answer` are set once a key is `done`. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    scope: text().notNull(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    requestId: text().notNull(),
    state: text().$type<'running' | 'done'>().notNull(),
    startedAt: integer().notNull(),
    leaseUntil: integer().notNull(),
    expiresAt: integer().notNull(),
    headers: text({ mode: 'json' }).$type<Record<string, string>>(),
    answer: blob({ mode: 'buffer' }).$type<Uint8Array>(),
    daemon: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.scope, table.key] })],
);

/** With a literal, as SQLite does not use a partial index for a bound value. */
export const isRunningAt = (daemon: number) =>
  sql`${idempotencyKeys.state} = 'running' and ${idempotencyKeys.daemon} = ${daemon}`;
