import {
  type Agent,
  type AgentView,
  createAgent,
  createAgentChallenge,
  getAgent,
} from '../../../shared/contract/agents.ts';
import type { FreeTierView, KeyView } from '../../../shared/contract/keys.ts';
import { ApiError } from '../../../shared/errors.ts';
import { formatUsd, type NanoUsd } from '../../../shared/money/money.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type AgentCaller, type Handler, implement } from '../../base/handler.ts';
import { withSecret } from '../../base/replies.ts';
import { noLimits, spendView } from '../keys/index.ts';
import {
  type AgentUse,
  dailyCalls,
  type FreeTierSettings,
  isLifting,
  type Spend,
} from '../metering/index.ts';
import type { Agents } from './agents.ts';
import type { AgentRecord } from './store.ts';

interface AgentHandlersDeps {
  agents: Agents;
  freeTier: FreeTierSettings;
}

export function agentHandlers({ agents, freeTier }: AgentHandlersDeps): Handler[] {
  return [
    implement(createAgentChallenge, async () => {
      const { text, difficulty, expiresAt } = agents.challenge();
      return { challenge: text, algorithm: 'sha256', difficulty, expires_at: isoTime(expiresAt) };
    }),
    implement(createAgent, async ({ body, remoteAddress = '' }) => {
      const { agent, secret } = await agents.signUp({ ...body, remoteAddress });
      const created_at = isoTime(agent.createdAt);
      return withSecret<typeof createAgent>({
        agent: toAgent(agent),
        key: { id: agent.id, hint: agent.hint, created_at },
        secret,
      });
    }),
    implement(getAgent, async ({ caller }): Promise<AgentView> => {
      if (caller.kind !== 'agent') throw new ApiError('not_an_agent');
      const { agent, use, balance } = await agents.view(caller);
      const lifted = isLifting(balance);
      const limitOf = (kind: keyof typeof dailyCalls) => (lifted ? null : dailyCalls[kind]);
      return {
        agent: toAgent(agent),
        plan: balance > 0 ? 'credit' : 'free',
        balance_usd: formatUsd(balance),
        free_tier: freeTierView(use, freeTier),
        calls_today: {
          decisions: { limit: limitOf('decisions'), used: use.decisions },
          other: { limit: limitOf('others'), used: use.others },
          lifted,
        },
      };
    }),
  ];
}

/** The calling agent in the form of a key: its secret is its only one. */
export function agentKeyView({ agents, freeTier, spendOf }: AgentKeyViewDeps) {
  return async (caller: AgentCaller): Promise<KeyView> => {
    const { agent, use, balance } = await agents.view(caller);
    return {
      id: agent.id,
      name: agent.name,
      workspace: agent.workspaceId,
      scopes: [],
      created_at: isoTime(agent.createdAt),
      last_used_at: null,
      balance_usd: formatUsd(balance),
      spend_usd: spendView(await spendOf(caller)),
      limits: noLimits,
      free_tier: freeTierView(use, freeTier),
    };
  };
}

interface AgentKeyViewDeps extends AgentHandlersDeps {
  spendOf: (caller: AgentCaller) => Promise<Spend>;
}

function toAgent({ id, name, createdAt }: AgentRecord): Agent {
  return { id, name, created_at: isoTime(createdAt) };
}

/** The API's form of what an agent used for free; running calls count with their maximum cost. */
function freeTierView(use: AgentUse, { requests, budget }: FreeTierLimits): FreeTierView {
  return {
    requests: { limit: requests, used: Math.min(use.freeRequests, requests) },
    budget_usd: { limit: formatUsd(budget), used: formatUsd(use.freeCost) },
    shared_pool: { state: use.isPoolFull ? 'full' : 'open' },
    resets_at: isoTime(use.resetsAt),
  };
}

interface FreeTierLimits {
  requests: number;
  budget: NanoUsd;
}
