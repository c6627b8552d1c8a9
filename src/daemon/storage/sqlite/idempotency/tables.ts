import { blob, integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** Who has which key; `headers` (JSON) and `answer` are there once it is `done`. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    requestId: text('request_id').notNull(),
    state: text('state').$type<'running' | 'done'>().notNull(),
    startedAt: integer('started_at').notNull(),
    leaseUntil: integer('lease_until').notNull(),
    expiresAt: integer('expires_at').notNull(),
    headers: text('headers'),
    answer: blob('answer', { mode: 'buffer' }).$type<Uint8Array>(),
  },
  (table) => [primaryKey({ columns: [table.scope, table.key] })],
);
