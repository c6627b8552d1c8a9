import type { AgentsStore } from '../../../features/agents/store.ts';
import { eq } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { holdReads } from '../metering/limits/hold-reads.ts';
import { agents } from './tables.ts';
import type { AgentsWrites } from './writes.ts';

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
