import type { AgentsStore } from '../../../features/agents/store.ts';
import { and, eq, sql } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { holdReads } from '../metering/limits/hold-reads.ts';
import { agentDays, agents } from './tables.ts';
import type { AgentsWrites } from './writes.ts';

const emptyDay = { freeRequests: 0, freeCost: 0, decisions: 0, others: 0 };

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
    async day(agentId, day) {
      const isMeant = and(eq(agentDays.day, day), eq(agentDays.agentId, agentId));
      const row = orm.select().from(agentDays).where(isMeant).get();
      if (!row) return emptyDay;
      const { freeRequests, freeCost, decisions, others } = row;
      return { freeRequests, freeCost, decisions, others };
    },
    used: async (agentId, day) => used(agentId, day),
    async freeCost(day) {
      const total = sql<number>`coalesce(sum(${agentDays.freeCost}), 0)`;
      const row = orm.select({ total }).from(agentDays).where(eq(agentDays.day, day)).get();
      return row?.total ?? 0;
    },
  };
}
