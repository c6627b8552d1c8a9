import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  AttemptView,
  CostView,
  Count,
  everyone,
  finishedRequest,
  nullable,
  Timestamp,
  TokenCounts,
  timeRange,
  Usd,
} from './vocabulary.ts';

export const callStatuses = ['completed', 'incomplete', 'failed', 'canceled', 'interrupted'] as const;

/** Members that usage and traces of a finished call share. */
export const finishedCall = {
  request_id: Type.String(),
  response_id: nullable(
    Type.String({ description: 'Null for calls in the chat-completions and Messages formats.' }),
  ),
  created_at: Timestamp,
  completed_at: Timestamp,
  endpoint: Type.String({ description: 'The path of the call.' }),
  model: Type.String(),
  provider: nullable(Type.String({ description: 'The provider that answered; null if none did.' })),
  key: nullable(Type.String({ description: 'The id of the calling key or login.' })),
  streamed: Type.Boolean(),
  status: Type.Enum([...callStatuses], {
    description:
      '`canceled`: the client disconnected or the key was revoked. `interrupted`: the daemon stopped before the answer was complete.',
  }),
};

/** Usage and cost of a finished call. */
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

/** Totals of finished calls. */
const usageSums = {
  requests: Count,
  unpriced_requests: Type.Integer({
    minimum: 0,
    description: 'Calls with an unknown price, which no amount includes.',
  }),
  tokens: TokenCounts,
  cost: CostView,
  charged_usd: Usd,
};

export const UsageSums = Type.Object(usageSums, { $id: 'UsageSums' });

/** One row of a summary: a day (`2026-11-21`), a model, or the id of a key or login. */
export const UsageGroup = Type.Object(
  {
    group: nullable(Type.String({ description: 'A day, a model, or the id of a key or login.' })),
    ...usageSums,
  },
  { $id: 'UsageGroup' },
);

export const usageGroupings = ['day', 'model', 'key'] as const;

export const getUsage = endpoint({
  id: 'getUsage',
  method: 'GET',
  path: '/v1/usage/{request_id}',
  summary: 'Get the usage of a request.',
  description:
    'Tokens, cost, provider, attempts and the amount charged. A key sees its own requests, a login those of its workspace.',
  tag: 'Usage',
  access: { apiKey: 'usage:read', login: 'any', agent: true },
  params: finishedRequest,
  result: UsageView,
  errors: ['unauthenticated', 'out_of_scope', 'not_found', 'invalid_request'],
});

export const listUsage = endpoint({
  id: 'listUsage',
  method: 'GET',
  path: '/v1/usage',
  summary: 'Summarise usage.',
  description:
    'Totals of finished requests: a key sees its own, a login those of its workspace. `total` covers all pages.',
  tag: 'Usage',
  access: { apiKey: 'usage:read', login: 'any', agent: true },
  query: Type.Object({
    key: Type.Optional(
      Type.String({ maxLength: 64, description: 'Only calls of the key or login with this id.' }),
    ),
    model: Type.Optional(Type.String({ maxLength: 256, description: 'Only calls answered by this model.' })),
    ...timeRange,
    group_by: Type.Optional(Type.Enum([...usageGroupings], { description: 'Default: `day`.' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Groups on a page; default 100.' }),
    ),
    after: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'The `next` of the previous page.' }),
    ),
  }),
  result: Type.Object({
    object: Type.Literal('list'),
    group_by: Type.Enum([...usageGroupings]),
    since: Timestamp,
    until: Timestamp,
    total: UsageSums,
    data: Type.Array(UsageGroup, { description: 'In ascending order, null last.' }),
    has_more: Type.Boolean(),
    next: nullable(
      Type.String({ description: 'Send it as `after` for the next page; null on the last one.' }),
    ),
  }),
  errors: ['unauthenticated', 'out_of_scope', 'not_found', 'invalid_request'],
});

const served = { tokens: Count, input: Count, output: Count, requests: Count };

/** All tokens served on one UTC day. The parts of each split add up to `tokens`. */
export const ServedDayView = Type.Object(
  {
    date: Type.String({ format: 'date' }),
    ...served,
    by_caller: Type.Object({ key: Count, agent: Count, own_key: Count }),
    by_price_tier: Type.Object({ paid: Count, free: Count }),
  },
  { $id: 'ServedDay', description: 'The parts of each split are tokens and add up to `tokens`.' },
);

export const tokensServed = endpoint({
  id: 'tokensServed',
  method: 'GET',
  path: '/v1/usage/tokens-served',
  summary: 'Get the number of tokens served.',
  description:
    'In total and per UTC day, newest first. Calls with a caller’s own provider key count as paid.',
  tag: 'Usage',
  access: everyone,
  result: Type.Object({ total: Type.Object(served), days: Type.Array(ServedDayView) }),
  errors: ['unauthenticated', 'unavailable'],
});

export type UsageView = Static<typeof UsageView>;
export type UsageSums = Static<typeof UsageSums>;
export type UsageGroup = Static<typeof UsageGroup>;
export type ServedDayView = Static<typeof ServedDayView>;
