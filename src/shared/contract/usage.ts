import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { CostView, Count, everyone, nullable, Timestamp, TokenCounts, Usd } from './vocabulary.ts';

/** One try to have a call answered by one provider. */
export const AttemptView = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  status: Type.Integer({ description: 'The provider’s HTTP status; 0 when it gave none.' }),
  error_code: nullable(Type.String()),
  ms: Type.Number({ minimum: 0 }),
});

/** What one finished call took and what it cost. */
export const UsageView = Type.Object({
  request_id: Type.String(),
  response_id: nullable(Type.String()),
  created_at: Timestamp,
  completed_at: Timestamp,
  endpoint: Type.String(),
  model: Type.String(),
  provider: nullable(Type.String()),
  key: nullable(Type.String({ description: 'The id of the calling key; null when a login called.' })),
  streamed: Type.Boolean(),
  status: Type.Enum(['completed', 'incomplete', 'failed', 'canceled', 'interrupted']),
  tokens: TokenCounts,
  cost: nullable(CostView),
  charged_usd: Usd,
  own_key: Type.Boolean(),
  attempts: Type.Array(AttemptView),
  ttft_ms: nullable(Type.Number({ minimum: 0, description: 'Until the first token.' })),
  total_ms: Type.Number({ minimum: 0 }),
});

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

export const UsageSums = Type.Object(usageSums);

/** One row of a summary: a day (`2026-11-21`), a model, or a key's id (null: calls of a login). */
export const UsageGroup = Type.Object({ group: nullable(Type.String()), ...usageSums });

export const usageGroupings = ['day', 'model', 'key'] as const;

/** Tells what one finished call took. */
export const getUsage = endpoint({
  id: 'getUsage',
  method: 'GET',
  path: '/v1/usage/{request_id}',
  summary: 'Show tokens, cost, provider and attempts of one finished request.',
  tag: 'usage',
  access: { apiKey: 'usage:read', login: 'any', agent: true },
  surface: 'v1',
  params: Type.Object({ request_id: Type.String({ minLength: 1, maxLength: 64 }) }),
  result: UsageView,
  errors: ['unauthenticated', 'out_of_scope', 'not_found', 'invalid_request'],
});

const TimeBound = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?Z)?$',
  description: 'A UTC time, or a day with all its hours: `2026-11-21T08:54:15Z` or `2026-11-21`.',
});

/** Sums up finished calls: a key its own, a login those of its workspace. */
export const listUsage = endpoint({
  id: 'listUsage',
  method: 'GET',
  path: '/v1/usage',
  summary: 'Sum up finished requests by day, model or key.',
  tag: 'usage',
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
export const ServedDayView = Type.Object({
  date: Type.String({ format: 'date' }),
  ...served,
  by_caller: Type.Object({ key: Count, agent: Count, own_key: Count }),
  by_price_tier: Type.Object({ paid: Count, free: Count }),
});

/** Tells the public how many tokens were served. */
export const tokensServed = endpoint({
  id: 'tokensServed',
  method: 'GET',
  path: '/v1/usage/tokens-served',
  summary: 'Show the tokens served, in all and per UTC day.',
  tag: 'usage',
  access: everyone,
  surface: 'v1',
  result: Type.Object({ total: Type.Object(served), days: Type.Array(ServedDayView) }),
  errors: ['unauthenticated', 'unavailable'],
});

export type UsageView = Static<typeof UsageView>;
export type UsageSums = Static<typeof UsageSums>;
export type UsageGroup = Static<typeof UsageGroup>;
export type ServedDayView = Static<typeof ServedDayView>;
