import { integer, primaryKey, real, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `PeerRecord`, and the name of its secret. */
export const peers = sqliteTable(
  'peers',
  {
    workspaceId: text().notNull(),
    name: text().notNull(),
    url: text().notNull(),
    secret: text(),
    keyFingerprint: text(),
    allowedModels: text({ mode: 'json' }).$type<string[]>(),
    maxInFlight: integer().notNull(),
    enabled: integer({ mode: 'boolean' }).notNull(),
    insecureHttp: integer({ mode: 'boolean' }).notNull(),
    mayBePrivate: integer({ mode: 'boolean' }).notNull(),
    addedAt: integer().notNull(),
    updatedAt: integer().notNull(),
    answered: integer().notNull(),
    failed: integer().notNull(),
    latencyMs: real(),
    lastSeenAt: integer(),
    benches: integer().notNull(),
    benchedUntil: integer(),
    reason: text(),
    compared: integer().notNull(),
    agreed: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.name] })],
);

/** Columns of a `PeerAttemptRecord`. */
export const peerAttempts = sqliteTable('peer_attempts', {
  id: integer().primaryKey({ autoIncrement: true }),
  workspaceId: text().notNull(),
  peer: text().notNull(),
  requestId: text().notNull(),
  outcome: text().notNull(),
  code: integer(),
  hedged: integer({ mode: 'boolean' }).notNull(),
  ms: real().notNull(),
  at: integer().notNull(),
});
