import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { FreeTier } from './keys.ts';
import { Count, dollars, nullable, StrictObject, Timestamp } from './vocabulary.ts';

/** Maximum length of an agent's name, in bytes of UTF-8. */
export const agentNameBytesMax = 64;

/** A program that signed up by itself. */
export const Agent = Type.Object(
  { id: Type.String({ description: '`agt_…`' }), name: Type.String(), created_at: Timestamp },
  { $id: 'Agent' },
);

const CallsOfDay = Type.Object({
  limit: nullable(Type.Integer({ minimum: 0, description: 'Null while the limit is lifted.' })),
  used: Count,
});

/** The calling agent's plan and what is left of it today. */
export const AgentView = Type.Object(
  {
    agent: Agent,
    plan: Type.Enum(['free', 'credit'], { description: '`credit`: the agent has a balance.' }),
    balance_usd: dollars('Prepaid dollars.'),
    free_tier: FreeTier,
    calls_today: Type.Object({
      decisions: CallsOfDay,
      other: CallsOfDay,
      lifted: Type.Boolean({ description: 'Whether the balance lifts the limits.' }),
    }),
  },
  { $id: 'AgentView', description: 'The calling agent. Days are UTC.' },
);

/** A challenge to solve before signing up. */
export const AgentChallenge = Type.Object(
  {
    challenge: Type.String(),
    algorithm: Type.Literal('sha256'),
    difficulty: Type.Integer({ minimum: 0, description: 'The number of leading zero bits of the hash.' }),
    expires_at: Timestamp,
  },
  {
    $id: 'AgentChallenge',
    description:
      'To solve it, find a nonce for which the SHA-256 of `challenge`, a colon and the nonce begins with `difficulty` zero bits.',
  },
);

const signUp = { tag: 'Agents', access: { anonymous: true } } as const;

export const createAgentChallenge = endpoint({
  ...signUp,
  id: 'createAgentChallenge',
  method: 'POST',
  path: '/v1/agents/challenge',
  summary: 'Get a sign-up challenge.',
  description: 'It can be used once, within ten minutes.',
  result: AgentChallenge,
  errors: ['permission', 'signup_unavailable'],
});

export const createAgent = endpoint({
  ...signUp,
  id: 'createAgent',
  method: 'POST',
  path: '/v1/agents',
  summary: 'Sign up an agent.',
  description: 'Only this response contains the secret.',
  body: StrictObject({
    // Its length is in bytes, which a schema cannot express; the code is `invalid_name`.
    name: Type.String({ maxLength: 1024, description: `1 to ${agentNameBytesMax} bytes of UTF-8.` }),
    challenge: Type.String({ minLength: 1, maxLength: 512 }),
    proof: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The nonce that solves the challenge.',
    }),
  }),
  result: Type.Object({
    agent: Agent,
    key: Type.Object({
      id: Type.String({ description: 'The id of the agent, whose only key it is.' }),
      hint: Type.String({ description: 'The recognisable part of the secret: `gwa_aB3d…x9Zk`.' }),
      created_at: Timestamp,
    }),
    secret: Type.String({ description: 'Send it as `Authorization: Bearer …`. It is not shown again.' }),
  }),
  errors: ['permission', 'invalid_name', 'invalid_proof', 'signup_limit', 'signup_unavailable'],
});

export const getAgent = endpoint({
  id: 'getAgent',
  method: 'GET',
  path: '/v1/agents/me',
  summary: 'Get the calling agent.',
  description: 'Its plan, balance, free tier and calls today. Other callers get `not_an_agent`.',
  tag: 'Agents',
  access: { apiKey: 'any', login: 'any', agent: true },
  result: AgentView,
  errors: ['not_an_agent'],
});

export type Agent = Static<typeof Agent>;
export type AgentView = Static<typeof AgentView>;
export type AgentChallenge = Static<typeof AgentChallenge>;
