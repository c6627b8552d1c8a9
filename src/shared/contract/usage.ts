import { type Static, Type } from 'typebox';
import { bucketNames } from '../time/time-zones.ts';
import { endpoint } from './endpoint.ts';
import {
  AttemptView,
  CostView,
  Count,
  everyone,
  finishedRequest,
  nullable,
  subscriptionMembers,
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
  provider: nullable(
    Type.String({
      description: 'The provider that answered, or at which a failed call failed last; null if neither.',
    }),
  ),
  key: nullable(Type.String({ description: 'The id of the calling key or login.' })),
  streamed: Type.Boolean(),
  status: Type.Enum([...callStatuses], {
    description:
      '`canceled`: the client left, or the call was stopped. `interrupted`: the daemon stopped before the answer was complete.',
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
    ...subscriptionMembers,
    attempts: Type.Array(AttemptView),
    ttft_ms: nullable(Type.Number({ minimum: 0, description: 'Milliseconds until the first token.' })),
    total_ms: Type.Number({ minimum: 0 }),
  },
  { $id: 'Usage' },
);

/** Totals of finished calls. */
const usageSums = {
  requests: Type.Integer({ minimum: 0, description: 'Calls that were admitted, whatever became of them.' }),
  rejected: Type.Integer({
    minimum: 0,
    description:
      'Calls that got an error before a provider was asked. `requests` does not include them: all calls are both together.',
  }),
  unpriced_requests: Type.Integer({
    minimum: 0,
    description: 'Calls with an unknown price, which no amount includes.',
  }),
  tokens: TokenCounts,
  cost: CostView,
  charged_usd: Usd,
};

export const UsageSums = Type.Object(usageSums, { $id: 'UsageSums' });

const groupDescription =
  'A day, a model, a provider, a status, a client, a user, a tag, an error code, or the id of a key or login; null for calls without.';

/** One row of a summary: a day (`2026-11-21`), a model, or the id of a key or login. */
export const UsageGroup = Type.Object(
  {
    group: nullable(Type.String({ description: groupDescription })),
    groups: Type.Array(nullable(Type.String({ description: groupDescription })), {
      description: 'The same in the order of `group_by`, which can name two.',
    }),
    ...usageSums,
  },
  { $id: 'UsageGroup' },
);

export const usageGroupings = [
  'day',
  'model',
  'key',
  'provider',
  'status',
  'client',
  'user',
  'tag',
  'error',
] as const;
const groupingPattern = `(${usageGroupings.join('|')})`;

const TimeZone = Type.Optional(
  Type.String({
    maxLength: 64,
    description: 'Whose days they are: an IANA time zone, such as `Europe/Berlin`. Default: `UTC`.',
  }),
);

const usageFilters = {
  key: Type.Optional(
    Type.String({ maxLength: 64, description: 'Only calls of the key or login with this id.' }),
  ),
  model: Type.Optional(Type.String({ maxLength: 256, description: 'Only calls answered by this model.' })),
};

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
});

export const listUsage = endpoint({
  id: 'listUsage',
  method: 'GET',
  path: '/v1/usage',
  summary: 'Summarise usage.',
  description:
    'Totals of finished and of rejected calls: a key sees its own, a login those of its workspace. `total` covers all pages, and counts each call once. Rejected calls of unknown callers are among those of the host’s owner.',
  tag: 'Usage',
  access: { apiKey: 'usage:read', login: 'any', agent: true },
  query: Type.Object({
    ...usageFilters,
    ...timeRange,
    tz: TimeZone,
    group_by: Type.Optional(
      Type.String({
        pattern: `^${groupingPattern}(,${groupingPattern})?$`,
        description:
          'One or two of `day`, `model`, `key`, `provider`, `status`, `client`, `user`, `tag` and `error`, such as `day,model`. A call with several tags counts for each of them, and once in `total`; one without counts for null. `client`, `user`, `tag` and `error` go together with `day` in UTC only, and without `key` and `model`; `key` with `day` in UTC only. Default: `day`.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'Groups on a page; default 100.' }),
    ),
    after: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1024, description: 'The `next` of the previous page.' }),
    ),
  }),
  result: Type.Object({
    object: Type.Literal('list'),
    group_by: Type.String(),
    tz: Type.String(),
    since: Timestamp,
    until: Timestamp,
    total: UsageSums,
    data: Type.Array(UsageGroup, { description: 'In ascending order, null last.' }),
    has_more: Type.Boolean(),
    next: nullable(
      Type.String({ description: 'Send it as `after` for the next page; null on the last one.' }),
    ),
  }),
});

const Bucket = Type.Optional(
  Type.Enum([...bucketNames], {
    description: 'How long each bucket is. Default: of at most 100 buckets, the shortest.',
  }),
);

const buckets = {
  tz: Type.String(),
  bucket: Type.Enum([...bucketNames]),
  buckets: Type.Array(Type.Object({ start: Timestamp, end: Timestamp })),
  is_partial: Type.Boolean({ description: 'Whether the last bucket has not ended yet.' }),
};

/** A chart of usage: one value per bucket. */
export const UsageSeries = Type.Object(
  {
    group: nullable(Type.String({ description: 'Null for logins, all calls, and the others.' })),
    is_other: Type.Boolean({ description: 'Of all groups that have no series of their own.' }),
    requests: Type.Array(Count),
    rejected: Type.Array(Count, {
      description: 'Calls that got an error before a provider was asked; `requests` does not include them.',
    }),
    errors: Type.Array(Count, {
      description: 'Requests that failed or were interrupted; by `error`, all with the code.',
    }),
    input_tokens: Type.Array(Count),
    cached_input_tokens: Type.Array(Count),
    output_tokens: Type.Array(Count),
    cost_usd: Type.Array(Usd),
    charged_usd: Type.Array(Usd),
  },
  { $id: 'UsageSeries', description: 'Each array has one value per bucket.' },
);

export const getUsageSeries = endpoint({
  id: 'getUsageSeries',
  method: 'GET',
  path: '/v1/usage/series',
  summary: 'Get usage over time.',
  description:
    'Requests, errors, rejected calls, tokens and cost per bucket of time, of the groups that cost the most and of the others: a key sees its own calls, a login those of its workspace. Buckets are whole, so the range can begin before `since` and end after `until`; the default is the last 24 hours. Days, weeks (from Monday) and months are those of the time zone.',
  tag: 'Usage',
  access: { apiKey: 'usage:read', login: 'any', agent: true },
  query: Type.Object({
    ...usageFilters,
    provider: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Only calls answered by this provider, or that failed there last.',
      }),
    ),
    status: Type.Optional(
      Type.Enum([...callStatuses, 'rejected'], { description: 'Only calls with this status.' }),
    ),
    ...timeRange,
    tz: TimeZone,
    bucket: Bucket,
    group_by: Type.Optional(
      Type.Enum(['model', 'provider', 'status', 'key', 'error'], {
        description:
          'Default: all calls in one series. `error` has the calls with an error code, the most frequent codes first; it goes without filters, and not for keys.',
      }),
    ),
    top: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 20,
        description: 'How many groups have a series each; default 10.',
      }),
    ),
  }),
  result: Type.Object({
    object: Type.Literal('usage.series'),
    ...buckets,
    series: Type.Array(UsageSeries, {
      description: 'The dearest first, of errors the most frequent ones, and the others last.',
    }),
  }),
});

const Percentile = nullable(Type.Number({ minimum: 0 }));

/** The distribution of one measurement. */
export const Distribution = Type.Object(
  {
    count: Count,
    p50: Percentile,
    p90: Percentile,
    p95: Percentile,
    p99: Percentile,
    histogram: Type.Optional(
      Type.Array(Type.Object({ from: Type.Number(), to: Type.Number(), count: Count }), {
        description:
          'How many calls were in each step, in ascending order, without empty ones; of a whole range.',
      }),
    ),
  },
  { $id: 'Distribution', description: 'Percentiles are off by at most a tenth; null without calls.' },
);

export const LatencySeries = Type.Object(
  {
    group: nullable(Type.String()),
    first_token_ms: Type.Array(Distribution),
    total_ms: Type.Array(Distribution),
    tokens_per_second: Type.Array(Distribution),
    overhead_ms: Type.Array(Distribution, { description: 'Until the first provider was asked.' }),
  },
  { $id: 'LatencySeries', description: 'Each array has one value per bucket.' },
);

export const getUsageLatency = endpoint({
  id: 'getUsageLatency',
  method: 'GET',
  path: '/v1/usage/latency',
  summary: 'Get latency over time.',
  description:
    'Percentiles of the time to the first token and to the end of answers, of tokens per second, and of what the gateway adds, for the whole workspace. Without `bucket`, one for the whole range, by default of the last 24 hours, with its histogram. Times are rounded to hours, beyond eight days to UTC days, and include the current one.',
  tag: 'Usage',
  access: { apiKey: ['traces:read', 'traces'], login: 'any' },
  query: Type.Object({
    model: usageFilters.model,
    provider: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Only calls answered by this provider, or that failed there last.',
      }),
    ),
    ...timeRange,
    tz: TimeZone,
    bucket: Type.Optional(
      Type.Enum(['hour', 'day', 'week', 'month'], { description: 'Default: the whole range.' }),
    ),
    group_by: Type.Optional(Type.Enum(['model', 'provider'], { description: 'Default: all calls.' })),
  }),
  result: Type.Object({
    object: Type.Literal('usage.latency'),
    ...buckets,
    bucket: nullable(Type.Enum(['hour', 'day', 'week', 'month'])),
    series: Type.Array(LatencySeries, { description: 'Those with the most calls first, at most 50.' }),
  }),
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
});

export type UsageSeries = Static<typeof UsageSeries>;
export type LatencySeries = Static<typeof LatencySeries>;
export type Distribution = Static<typeof Distribution>;
export type UsageView = Static<typeof UsageView>;
export type UsageSums = Static<typeof UsageSums>;
export type UsageGroup = Static<typeof UsageGroup>;
export type ServedDayView = Static<typeof ServedDayView>;
