import type { CallStatus, CallTrace, LedgerEntry } from '../../../features/metering/metering-store.ts';
import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** Amounts are nano-dollars, times milliseconds since 1970, days `2026-11-21`. */
export const accounts = sqliteTable('accounts', {
  id: text('id').primaryKey(),
  balance: integer('balance').notNull(),
});

/** Never changed and never deleted: triggers see to it. */
export const entries = sqliteTable(
  'entries',
  {
    requestId: text('request_id').notNull(),
    kind: text('kind').$type<LedgerEntry['kind']>().notNull(),
    debit: text('debit').notNull(),
    credit: text('credit').notNull(),
    amount: integer('amount').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.requestId, table.kind] })],
);

export const holds = sqliteTable('holds', {
  requestId: text('request_id').primaryKey(),
  workspaceId: text('workspace_id').notNull(),
  keyId: text('key_id'),
  endpoint: text('endpoint').notNull(),
  model: text('model').notNull(),
  streamed: integer('streamed', { mode: 'boolean' }).notNull(),
  ownKey: integer('own_key', { mode: 'boolean' }).notNull(),
  amount: integer('amount').notNull(),
  promptInput: integer('prompt_input').notNull(),
  promptCachedInput: integer('prompt_cached_input').notNull(),
  promptCacheWrite: integer('prompt_cache_write').notNull(),
  promptOutput: integer('prompt_output').notNull(),
  promptReasoning: integer('prompt_reasoning').notNull(),
  promptCost: integer('prompt_cost').notNull(),
  createdAt: integer('created_at').notNull(),
  /** The six below are null until progress is first written. */
  progressInput: integer('progress_input'),
  progressCachedInput: integer('progress_cached_input'),
  progressCacheWrite: integer('progress_cache_write'),
  progressOutput: integer('progress_output'),
  progressReasoning: integer('progress_reasoning'),
  progressCost: integer('progress_cost'),
  provider: text('provider'),
});

export const usage = sqliteTable('usage', {
  requestId: text('request_id').primaryKey(),
  responseId: text('response_id'),
  workspaceId: text('workspace_id').notNull(),
  keyId: text('key_id'),
  endpoint: text('endpoint').notNull(),
  model: text('model').notNull(),
  provider: text('provider'),
  streamed: integer('streamed', { mode: 'boolean' }).notNull(),
  ownKey: integer('own_key', { mode: 'boolean' }).notNull(),
  status: text('status').$type<CallStatus>().notNull(),
  errorCode: text('error_code'),
  input: integer('input').notNull(),
  cachedInput: integer('cached_input').notNull(),
  cacheWrite: integer('cache_write').notNull(),
  output: integer('output').notNull(),
  reasoning: integer('reasoning').notNull(),
  tokensReported: integer('tokens_reported', { mode: 'boolean' }).notNull(),
  /** Null together with the margin when the price is unknown; the total is their sum. */
  costProvider: integer('cost_provider'),
  costMargin: integer('cost_margin'),
  charged: integer('charged').notNull(),
  /** A JSON list of `Attempt`. */
  attempts: text('attempts').notNull(),
  ttftMs: integer('ttft_ms'),
  totalMs: integer('total_ms').notNull(),
  createdAt: integer('created_at').notNull(),
  completedAt: integer('completed_at').notNull(),
  /** A `CallTrace` as JSON; null when there is none. */
  trace: text('trace', { mode: 'json' }).$type<CallTrace>(),
});

/** What each key was charged on each UTC day: the sum of `usage.charged`. */
export const keySpend = sqliteTable(
  'key_spend',
  {
    keyId: text('key_id').notNull(),
    day: text('day').notNull(),
    amount: integer('amount').notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.day] })],
);

export const servedDays = sqliteTable(
  'served_days',
  {
    day: text('day').notNull(),
    caller: text('caller').$type<'key' | 'agent'>().notNull(),
    ownKey: integer('own_key', { mode: 'boolean' }).notNull(),
    tier: text('tier').$type<'paid' | 'free'>().notNull(),
    requests: integer('requests').notNull(),
    inputTokens: integer('input_tokens').notNull(),
    outputTokens: integer('output_tokens').notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.caller, table.ownKey, table.tier] })],
);
