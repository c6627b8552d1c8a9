import { agentNameBytesMax } from '../../../shared/contract/agents.ts';
import { oneLinePattern } from '../../../shared/contract/vocabulary.ts';
import { ApiError } from '../../../shared/errors.ts';
import { subscriberNetwork, surroundingNetwork } from '../../../shared/http/network-address.ts';
import type { MakeId } from '../../../shared/ids.ts';
import type { NanoUsd } from '../../../shared/money/money.ts';
import { hintOf, makeSecret } from '../../../shared/secrets.ts';
import { endOfDay, utcDay } from '../../../shared/time/time.ts';
import type { AgentCaller } from '../../base/handler.ts';
import type { AgentUse } from '../metering/index.ts';
import { type Challenge, createChallenges } from './challenge.ts';
import type { AgentRecord, AgentsStore } from './store.ts';

/** A reload changes the members. */
export interface SignUpSettings {
  isOpen: boolean;
  /** Bits of the proof of work. */
  difficulty: number;
  perAddress: number;
}

/** Sign-ups a day from the network of an address, as a multiple of those from one address. */
const addressesPerNetwork = 4;

export interface AgentsDeps {
  store: AgentsStore;
  settings: SignUpSettings;
  /** An agent's use of today. */
  usageOf: (agentId: string) => Promise<AgentUse>;
  balanceOf: (workspaceId: string) => Promise<NanoUsd>;
  /** The digest of a whole secret. */
  digest: (secret: string) => string;
  dataKey: Uint8Array;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
  /** What expiries are compared with. */
  passed: () => number;
}

export interface SignUpRequest {
  name: string;
  challenge: string;
  proof: string;
  remoteAddress: string;
}

/** Signs up agents by proof of work, and reports on them. */
export function createAgents(deps: AgentsDeps) {
  const { store, settings, now } = deps;
  const open = createChallenges(deps);

  const requireOpen = () => {
    if (!settings.isOpen) throw new ApiError('signup_unavailable');
  };

  return {
    /** Fails with `signup_unavailable`. */
    challenge(): Challenge {
      requireOpen();
      return open.create(settings.difficulty);
    },

    /** Fails with `signup_unavailable`, `invalid_name`, `invalid_proof` or `signup_limit`. */
    async signUp(request: SignUpRequest): Promise<{ agent: AgentRecord; secret: string }> {
      requireOpen();
      const { name, proof, remoteAddress } = request;
      if (!isName(name)) throw new ApiError('invalid_name', { param: 'name' });
      const challenge = open.solved(request.challenge, proof);
      if (!challenge) throw new ApiError('invalid_proof', { param: 'proof' });
      const secret = makeSecret('agent', deps.randomBytes);
      const createdAt = now();
      const agent: AgentRecord = {
        id: deps.makeId('agt'),
        workspaceId: deps.makeId('ws'),
        name,
        digest: deps.digest(secret),
        hint: hintOf(secret),
        createdAt,
      };
      const slug = `agent-${agent.id.slice('agt_'.length)}`;
      const day = utcDay(createdAt);
      const origins = originsOf(remoteAddress, settings.perAddress);
      const outcome = await store.signUp({ agent, slug, challenge, day, origins });
      if (outcome === 'used') throw new ApiError('invalid_proof', { param: 'challenge' });
      if (outcome === 'limit') {
        const retryAfterSeconds = Math.ceil((endOfDay(createdAt) - createdAt) / 1000);
        throw new ApiError('signup_limit', { retryAfterSeconds });
      }
      return { agent, secret };
    },

    /** Fails with `unauthenticated` if the agent is gone. */
    async view({ agentId, workspaceId }: AgentCaller) {
      const agent = await store.find(agentId);
      if (!agent) throw new ApiError('unauthenticated');
      return { agent, use: await deps.usageOf(agentId), balance: await deps.balanceOf(workspaceId) };
    },
  };
}

export type Agents = ReturnType<typeof createAgents>;

function isName(name: string): boolean {
  return (
    Buffer.byteLength(name) <= agentNameBytesMax &&
    name.isWellFormed() &&
    new RegExp(oneLinePattern).test(name)
  );
}

/** Where a sign-up came from: the subscriber, and the network around it. */
function originsOf(remoteAddress: string, perAddress: number) {
  const own = { origin: subscriberNetwork(remoteAddress), max: perAddress };
  const around = { origin: surroundingNetwork(remoteAddress), max: perAddress * addressesPerNetwork };
  // A Unix socket has no address.
  return own.origin === around.origin ? [own] : [own, around];
}
