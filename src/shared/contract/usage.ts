import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  AttemptView,
  CostView,
  Count,
  everyone,
  finishedRequest,
  nullable,
  TimeBound,
  Timestamp,
  TokenCounts,
  Usd,
} from './vocabulary.ts';

export const callStatuses = ['completed', 'incomplete', 'failed', 'canceled', 'interrupted'] as const;

/** What usage and traces both tell of a finished call. */
export const finishedCall = {
  request_id: Type.String(),
  response_id: nullable(Type.String({ description: 'Null for calls in the chat-completions format.' })),
  created_at: Timestamp,
  completed_at: Timestamp,
  endpoint: Type.String({ description: 'The path that was called.' }),
  model: Type.String(),
  provider: nullable(Type.String({ description: 'Who answered; null when nobody did.' })),
  key: nullable(Type.String({ description: 'The id of the calling key; null when a login called.' })),
  streamed: Type.Boolean(),
  status: Type.Enum([...callStatuses], {
    description:
      '`canceled`: the caller left or the key was revoked. `interrupted`: the daemon ended before the answer did.',
  }),
};

/** What one finished call took and what it cost. */
export const UsageView = Type.Object(
  {
    ...finishedCall,
    tokens: TokenCounts,
    cost: nullable(CostView),
    charged_usd: Usd,
    own_key: Type.Boolean({ description: 'Whether the workspace’s own provider key was used.' }),
    attempts: Type.Array(AttemptView),
    ttft_ms: nullable(Type.Number({ minimum: 0, description: 'Milliseconds until the first token.' })),
    total_ms: Type.Number({ minimum: 0 }),
  },
  { $id: 'Usage' },
);

/** Sums over finished calls. */
const usageSums = {
  requests: Count,
  unpriced_requests: Type.Integer({
    minimum: 0,
    description: 'Calls whose price nobody knows: they are in no amount.',
  }),
  tokens: TokenCounts,
  cost: CostView,
  charged_usd: Usd,
};

export const UsageSums = Type.Object(usageSums, { $id: 'UsageSums' });

/** One row of a summary: a day (`2026-11-21`), a model, or a key's id (null: calls of a login). */
export const UsageGroup = Type.Object(
  {
    group: nullable(
      Type.String({ description: 'A day, a model, or the id of a key; null for calls of a login.' }),
    ),
    ...usageSums,
  },
  { $id: 'UsageGroup' },
);

export const usageGroupings = ['day', 'model', 'key'] as const;

/** Tells what one finished call took. */
export const getUsage = endpoint({
  id: 'getUsage',
  method: 'GET',
  path: '/v1/usage/{request_id}',
  summary: 'Get what one finished request took.',
  description:
    'Tokens, cost, provider, attempts and what was charged. A key sees its own requests, a login those of its workspace.',
  tag: 'Usage',
  access: { apiKey: 'usage:read', login: 'any', agent: true },
  surface: 'v1',
  params: finishedRequest,
  result: UsageView,
  errors: ['unauthenticated', 'out_of_scope', 'not_found', 'invalid_request'],
});

/** Sums up finished calls: a key its own, a login those of its workspace. */
export const listUsage = endpoint({
  id: 'listUsage',
  method: 'GET',
  path: '/v1/usage',
  summary: 'Sum up finished requests.',
  description: 'A key sums up its own requests, a login those of its workspace.',
  tag: 'Usage',
  access: { apiKey: 'usage:read', login: 'any', agent: true },
  surface: 'v1',
  query: Type.Object({
    key: Type.Optional(Type.String({ maxLength: 64, description: 'Only calls of this key.' })),
    model: Type.Optional(Type.String({ maxLength: 256, description: 'Only calls answered by this model.' })),
    since: Type.Optional(TimeBound),
    until: Type.Optional(TimeBound),
    group_by: Type.Optional(Type.Enum([...usageGroupings], { description: '`day` unless told.' })),
  }),
  result: Type.Object({
    object: Type.Literal('list'),
    group_by: Type.Enum([...usageGroupings]),
    since: Timestamp,
    until: Timestamp,
    total: UsageSums,
    data: Type.Array(UsageGroup),
    has_more: Type.Boolean(),
    next: nullable(Type.String()),
  }),
  errors: ['unauthenticated', 'out_of_scope', 'not_found', 'invalid_request'],
});

const served = { tokens: Count, input: Count, output: Count, requests: Count };

/** All that was served on one UTC day. The parts of each split are tokens and add up to `tokens`. */
export const ServedDayView = Type.Object(
  {
    date: Type.String({ format: 'date' }),
    ...served,
    by_caller: Type.Object({ key: Count, agent: Count, own_key: Count }),
    by_price_tier: Type.Object({ paid: Count, free: Count }),
  },
  { $id: 'ServedDay', description: 'The parts of each split are tokens and add up to `tokens`.' },
);

/** Tells the public how many tokens were served. */
export const tokensServed = endpoint({
  id: 'tokensServed',
  method: 'GET',
  path: '/v1/usage/tokens-served',
  summary: 'Get the tokens served.',
  description: 'In all and per UTC day, newest first. Calls on a caller’s own provider key count as paid.',
  tag: 'Usage',
  access: everyone,
  surface: 'v1',
  result: Type.Object({ total: Type.Object(served), days: Type.Array(ServedDayView) }),
  errors: ['unauthenticated', 'unavailable'],
});

export type UsageView = Static<typeof UsageView>;
export type UsageSums = Static<typeof UsageSums>;
export type UsageGroup = Static<typeof UsageGroup>;
export type ServedDayView = Static<typeof ServedDayView>;
