import type { SignUp } from '../../../features/agents/store.ts';
import { and, eq, lt, lte, type Orm, sql } from '../engine/orm.ts';
import { workspaces } from '../workspaces/tables.ts';
import { agentChallenges, agentSignUps, agents } from './tables.ts';

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
