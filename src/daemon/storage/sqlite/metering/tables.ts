import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';
import type { CallDetails } from './call-details.ts';

/** A number of the table `names`. */
const nameNumber = () => integer();

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
  budget: text(),
  /** The progress columns are null until progress is first written. */
  progressInput: integer(),
  progressCachedInput: integer(),
  progressCacheWrite: integer(),
  progressOutput: integer(),
  progressReasoning: integer(),
  progressCost: integer(),
  provider: text(),
  /** See `labelsText`. */
  labels: text(),
  daemon: integer().notNull(),
  /** What an agent's free call reserves of the free tier; null for other calls. */
  free: integer(),
  /** JSON of its `HeldRoute`s; null if no budget counts them. */
  routes: text(),
});

/** Texts that many rows repeat. */
export const names = sqliteTable('names', {
  number: integer().primaryKey(),
  text: text().notNull(),
});

/** Finished calls. Their numbers are sequences of events, as each is the event of its settlement too. */
export const calls = sqliteTable('calls', {
  number: integer().primaryKey(),
  requestId: text().notNull(),
  responseId: text(),
  workspace: nameNumber().notNull(),
  /** Null for logins. */
  key: nameNumber(),
  endpoint: nameNumber().notNull(),
  model: nameNumber().notNull(),
  provider: nameNumber(),
  streamed: integer({ mode: 'boolean' }).notNull(),
  ownKey: integer({ mode: 'boolean' }).notNull(),
  status: nameNumber().notNull(),
  errorCode: nameNumber(),
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
  ttftMs: integer(),
  totalMs: integer().notNull(),
  createdAt: integer().notNull(),
  completedAt: integer().notNull(),
  /** An autopilot, whose spending it is, too. */
  budget: nameNumber(),
  /** `CallDetails` as JSON. */
  details: text({ mode: 'json' }).$type<CallDetails<number>>().notNull(),
  client: nameNumber(),
  endUser: nameNumber(),
  conversation: nameNumber(),
  /** Numbers of names such as `team=a`. */
  tags: text({ mode: 'json' }).$type<number[]>(),
  replayOf: nameNumber(),
  /** See `pricesText`. */
  prices: nameNumber(),
  cache: nameNumber(),
  httpStatus: integer(),
});

/** The distinct clients of each workspace. */
export const clients = sqliteTable(
  'clients',
  { workspace: nameNumber().notNull(), client: nameNumber().notNull() },
  ({ workspace, client }) => [primaryKey({ columns: [workspace, client] })],
);

const sums = () => ({
  requests: integer().notNull(),
  unpriced: integer().notNull(),
  input: integer().notNull(),
  cachedInput: integer().notNull(),
  cacheWrite: integer().notNull(),
  output: integer().notNull(),
  reasoning: integer().notNull(),
  costProvider: integer().notNull(),
  costMargin: integer().notNull(),
  charged: integer().notNull(),
});

/** Lists calls by what they are filtered by; kinds are in `index-kinds.ts`. */
export const callIndex = sqliteTable(
  'call_index',
  {
    workspace: nameNumber().notNull(),
    kind: integer().notNull(),
    value: nameNumber().notNull(),
    completedAt: integer().notNull(),
    number: integer().notNull(),
  },
  ({ workspace, kind, value, completedAt, number }) => [
    primaryKey({ columns: [workspace, kind, value, completedAt, number] }),
  ],
);

/** Totals of the calls that completed on each UTC day, in days since 1970. Provider 0 stands for none. */
export const usageDays = sqliteTable(
  'usage_days',
  {
    workspace: nameNumber().notNull(),
    day: integer().notNull(),
    model: nameNumber().notNull(),
    provider: nameNumber().notNull(),
    status: nameNumber().notNull(),
    ...sums(),
  },
  ({ workspace, day, model, provider, status }) => [
    primaryKey({ columns: [workspace, day, model, provider, status] }),
  ],
);

/** The same by key; key 0 stands for logins. */
export const usageKeyDays = sqliteTable(
  'usage_key_days',
  {
    workspace: nameNumber().notNull(),
    key: nameNumber().notNull(),
    day: integer().notNull(),
    model: nameNumber().notNull(),
    provider: nameNumber().notNull(),
    status: nameNumber().notNull(),
    ...sums(),
  },
  ({ workspace, key, day, model, provider, status }) => [
    primaryKey({ columns: [workspace, key, day, model, provider, status] }),
  ],
);

/**
 * Totals of each key in spans of 1 and 32 days, by model and, as model 0, of all models. Spans start at multiples of their
 * length, in days since 1970.
 */
export const usageKeys = sqliteTable(
  'usage_keys',
  {
    workspace: nameNumber().notNull(),
    model: nameNumber().notNull(),
    days: integer().notNull(),
    start: integer().notNull(),
    key: nameNumber().notNull(),
    ...sums(),
  },
  ({ workspace, model, days, start, key }) => [primaryKey({ columns: [workspace, model, days, start, key] })],
);

/** Totals of the calls that completed in each quarter of an hour since 1970. Provider 0 stands for none. */
export const usageSlots = sqliteTable(
  'usage_slots',
  {
    workspace: nameNumber().notNull(),
    slot: integer().notNull(),
    model: nameNumber().notNull(),
    provider: nameNumber().notNull(),
    status: nameNumber().notNull(),
    ...sums(),
  },
  ({ workspace, slot, model, provider, status }) => [
    primaryKey({ columns: [workspace, slot, model, provider, status] }),
  ],
);

/** The same by key; key 0 stands for logins. */
export const usageKeySlots = sqliteTable(
  'usage_key_slots',
  {
    workspace: nameNumber().notNull(),
    key: nameNumber().notNull(),
    slot: integer().notNull(),
    status: nameNumber().notNull(),
    ...sums(),
  },
  ({ workspace, key, slot, status }) => [primaryKey({ columns: [workspace, key, slot, status] })],
);

/** Totals by client, user, tag and error code on each UTC day; value 0 stands for all beyond a number of them. */
export const usageLabelDays = sqliteTable(
  'usage_label_days',
  {
    workspace: nameNumber().notNull(),
    kind: integer().notNull(),
    day: integer().notNull(),
    value: nameNumber().notNull(),
    ...sums(),
  },
  ({ workspace, kind, day, value }) => [primaryKey({ columns: [workspace, kind, day, value] })],
);

/** The same in each quarter of an hour since 1970. */
export const usageLabelSlots = sqliteTable(
  'usage_label_slots',
  {
    workspace: nameNumber().notNull(),
    kind: integer().notNull(),
    slot: integer().notNull(),
    value: nameNumber().notNull(),
    ...sums(),
  },
  ({ workspace, kind, slot, value }) => [primaryKey({ columns: [workspace, kind, slot, value] })],
);

/** Up to which day and key of it the old totals by key and quarter of an hour are deleted. */
export const prunedSlots = sqliteTable('pruned_slots', {
  workspace: nameNumber().primaryKey(),
  day: integer().notNull(),
  key: nameNumber().notNull(),
});

/**
 * Requests to providers in each half hour since 1970: answered ones by the time until the answer began, failed ones by their
 * error code, in bucket 0. `last` is the number of the newest call among them.
 */
export const attemptSlots = sqliteTable(
  'attempt_slots',
  {
    workspace: nameNumber().notNull(),
    slot: integer().notNull(),
    provider: nameNumber().notNull(),
    model: nameNumber().notNull(),
    /** 0 without an error. */
    errorCode: nameNumber().notNull(),
    bucket: integer().notNull(),
    attempts: integer().notNull(),
    last: integer().notNull(),
  },
  ({ workspace, slot, provider, model, errorCode, bucket }) => [
    primaryKey({ columns: [workspace, slot, provider, model, errorCode, bucket] }),
  ],
);

const latency = () => ({
  model: nameNumber().notNull(),
  provider: nameNumber().notNull(),
  metric: integer().notNull(),
  bucket: integer().notNull(),
  calls: integer().notNull(),
});

/** How many calls had which latency in each hour since 1970; metrics and buckets are in `slot-totals.ts`. */
export const latencyHours = sqliteTable(
  'latency_hours',
  { workspace: nameNumber().notNull(), hour: integer().notNull(), ...latency() },
  ({ workspace, hour, model, provider, metric, bucket }) => [
    primaryKey({ columns: [workspace, hour, model, provider, metric, bucket] }),
  ],
);

export const latencyDays = sqliteTable(
  'latency_days',
  { workspace: nameNumber().notNull(), day: integer().notNull(), ...latency() },
  ({ workspace, day, model, provider, metric, bucket }) => [
    primaryKey({ columns: [workspace, day, model, provider, metric, bucket] }),
  ],
);

/** The charges of each key per UTC day: the sum of `calls.charged`. */
export const keySpend = sqliteTable(
  'key_spend',
  { keyId: text().notNull(), day: text().notNull(), amount: integer().notNull() },
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
