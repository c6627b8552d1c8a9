import type { CallStatus, CallTrace } from '../../../features/metering/store.ts';
import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** Amounts are nano-dollars, times milliseconds since 1970, days `2026-11-21`. */
export const holds = sqliteTable('holds', {
  requestId: text().primaryKey(),
  workspaceId: text().notNull(),
  keyId: text(),
  endpoint: text().notNull(),
  model: text().notNull(),
  streamed: integer({ mode: 'boolean' }).notNull(),
  ownKey: integer({ mode: 'boolean' }).notNull(),
  amount: integer().notNull(),
  promptInput: integer().notNull(),
  promptCachedInput: integer().notNull(),
  promptCacheWrite: integer().notNull(),
  promptOutput: integer().notNull(),
  promptReasoning: integer().notNull(),
  promptCost: integer().notNull(),
  createdAt: integer().notNull(),
  /** The progress columns are null until progress is first written. */
  progressInput: integer(),
  progressCachedInput: integer(),
  progressCacheWrite: integer(),
  progressOutput: integer(),
  progressReasoning: integer(),
  progressCost: integer(),
  provider: text(),
});

export const usage = sqliteTable('usage', {
  requestId: text().primaryKey(),
  responseId: text(),
  workspaceId: text().notNull(),
  keyId: text(),
  endpoint: text().notNull(),
  model: text().notNull(),
  provider: text(),
  streamed: integer({ mode: 'boolean' }).notNull(),
  ownKey: integer({ mode: 'boolean' }).notNull(),
  status: text().$type<CallStatus>().notNull(),
  errorCode: text(),
  input: integer().notNull(),
  cachedInput: integer().notNull(),
  cacheWrite: integer().notNull(),
  output: integer().notNull(),
  reasoning: integer().notNull(),
  tokensReported: integer({ mode: 'boolean' }).notNull(),
  /** Provider cost and margin are both null when the price is unknown; the total is their sum. */
  costProvider: integer(),
  costMargin: integer(),
  charged: integer().notNull(),
  /** JSON array of `Attempt`. */
  attempts: text().notNull(),
  ttftMs: integer(),
  totalMs: integer().notNull(),
  createdAt: integer().notNull(),
  completedAt: integer().notNull(),
  /** A `CallTrace` as JSON; null if the daemon died during the call. */
  trace: text({ mode: 'json' }).$type<CallTrace>(),
});

/** The charges of each key per UTC day: the sum of `usage.charged`. */
export const keySpend = sqliteTable(
  'key_spend',
  {
    keyId: text().notNull(),
    day: text().notNull(),
    amount: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.day] })],
);

export const servedDays = sqliteTable(
  'served_days',
  {
    day: text().notNull(),
    caller: text().$type<'key' | 'agent'>().notNull(),
    ownKey: integer({ mode: 'boolean' }).notNull(),
    tier: text().$type<'paid' | 'free'>().notNull(),
    requests: integer().notNull(),
    inputTokens: integer().notNull(),
    outputTokens: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.caller, table.ownKey, table.tier] })],
);
