import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** Columns of an `AgentRecord`. */
export const agents = sqliteTable('agents', {
  id: text().primaryKey(),
  workspaceId: text().notNull(),
  name: text().notNull(),
  digest: text().notNull(),
  hint: text().notNull(),
  createdAt: integer().notNull(),
});

/** The challenges that were used lately. */
export const agentChallenges = sqliteTable('agent_challenges', {
  challenge: text().primaryKey(),
  expiresAt: integer().notNull(),
});

export const agentSignUps = sqliteTable(
  'agent_sign_ups',
  { day: text().notNull(), origin: text().notNull(), count: integer().notNull() },
  (table) => [primaryKey({ columns: [table.day, table.origin] })],
);

/** Columns of an `AgentDay`. */
export const agentDays = sqliteTable(
  'agent_days',
  {
    day: text().notNull(),
    agentId: text().notNull(),
    freeRequests: integer().notNull(),
    freeCost: integer().notNull(),
    decisions: integer().notNull(),
    others: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.agentId] })],
);
