import type { AgentsStore, SignUp } from '../../../features/agents/store.ts';
import { and, eq, integer, lt, lte, type Orm, primaryKey, sql, sqliteTable, text } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { holdReads } from '../metering/limits/hold-reads.ts';
import { workspaces } from '../workspaces/tables.ts';

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

export function agentsStore({ database, orm, writer }: StoreContext<AgentsWrites>): AgentsStore {
  const { ofAgent, pool } = holdReads(database);
  const used = database.transaction((agentId: string, day: string) => ({
    totals: ofAgent(agentId, day),
    pool: pool(day),
  }));
  return {
    signUp: (signUp) => writer.write('agents.signUp', signUp),
    byDigest: async (digest) => orm.select().from(agents).where(eq(agents.digest, digest)).get(),
    find: async (id) => orm.select().from(agents).where(eq(agents.id, id)).get(),
    used: async (agentId, day) => used(agentId, day),
  };
}

const keptMs = 7 * 24 * 60 * 60 * 1000;

export function agentsWrites(orm: Orm) {
  return {
    'agents.signUp': ({ agent, slug, challenge, day, origins }: SignUp): 'created' | 'used' | 'limit' => {
      const { createdAt } = agent;
      // A challenge that was used could be used again if the clock is set back.
      orm
        .delete(agentChallenges)
        .where(lte(agentChallenges.expiresAt, createdAt - keptMs))
        .run();
      orm.delete(agentSignUps).where(lt(agentSignUps.day, day)).run();
      const isThis = eq(agentChallenges.challenge, challenge.text);
      if (orm.select().from(agentChallenges).where(isThis).get()) return 'used';
      for (const { origin, max } of origins) {
        const isMeant = and(eq(agentSignUps.day, day), eq(agentSignUps.origin, origin));
        const counted = orm.select().from(agentSignUps).where(isMeant).get();
        if ((counted?.count ?? 0) >= max) return 'limit';
      }
      orm.insert(agentChallenges).values({ challenge: challenge.text, expiresAt: challenge.expiresAt }).run();
      for (const { origin } of origins) {
        orm
          .insert(agentSignUps)
          .values({ day, origin, count: 1 })
          .onConflictDoUpdate({
            target: [agentSignUps.day, agentSignUps.origin],
            set: { count: sql`${agentSignUps.count} + 1` },
          })
          .run();
      }
      orm
        .insert(workspaces)
        .values({ id: agent.workspaceId, slug, name: agent.name, createdAt, membersMayIssueKeys: false })
        .run();
      orm.insert(agents).values(agent).run();
      return 'created';
    },
  };
}

export type AgentsWrites = ReturnType<typeof agentsWrites>;
