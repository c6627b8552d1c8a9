import { type Static, Type } from 'typebox';
import { requestIdPattern } from '../constants/call-labels.ts';
import { endpoint } from './endpoint.ts';
import { PricesView } from './models.ts';
import { DroppedMember } from './service-member.ts';
import { callStatuses, finishedCall } from './usage.ts';
import {
  amount,
  CostView,
  Count,
  finishedRequest,
  listOf,
  nullable,
  pageQuery,
  subscriptionMembers,
  Timestamp,
  TokenCounts,
  timeRange,
  Usd,
} from './vocabulary.ts';

const Milliseconds = (description: string) => nullable(Type.Number({ minimum: 0, description }));

/** An attempt to get an answer from a provider, with timings. */
export const TraceAttempt = Type.Object(
  {
    provider: Type.String(),
    model: Type.String({ description: 'The provider’s name for the model.' }),
    status: Type.Integer({ description: 'The provider’s HTTP status; 0 without a response.' }),
    error_code: nullable(Type.String({ description: 'The error code; null on success.' })),
    message: nullable(
      Type.String({
        description:
          'Why it failed: what the provider says, without quotations, keys and ids of accounts; null on success.',
      }),
    ),
    key: Type.Optional(Type.String({ description: 'The name of the key, of a provider with several.' })),
    started_ms: Milliseconds('When it started.'),
    ended_ms: Milliseconds('When it failed or started to answer; the answer continues until `total_ms`.'),
  },
  { $id: 'TraceAttempt' },
);

export const traceStatuses = [...callStatuses, 'rejected'] as const;

/** Why a call was rejected before any provider was asked. */
export const RejectionView = Type.Object(
  {
    http_status: nullable(
      Type.Integer({ description: 'The status of the response; null if the client left without one.' }),
    ),
    param: nullable(Type.String({ description: 'The offending field or limit.' })),
    message: Type.String({ description: 'A message for people; do not parse it.' }),
    address: nullable(
      Type.String({ description: 'The address of a caller without a valid key; null for a known caller.' }),
    ),
    more: Type.Integer({
      minimum: 0,
      description: 'How many similar calls in the minute before were counted and have no trace of their own.',
    }),
  },
  { $id: 'Rejection' },
);

export const keptParts = ['request', 'attempts', 'answer', 'timing', 'wire'] as const;

/** What is kept of the content of a call. */
export const CapturedView = Type.Object(
  {
    state: Type.Enum(['none', 'memory', 'disk', 'deleted', 'expired'], {
      description:
        '`memory`, `disk`: where it is kept. `none`: it was not to be kept. `deleted`: by someone. `expired`: it made room for newer calls, was too old, or was in memory when the daemon stopped.',
    }),
    parts: Type.Array(Type.Enum([...keptParts]), {
      description: 'What of it is kept, by the names of `part` of `GET /v1/traces/{request_id}/content`.',
    }),
  },
  { $id: 'Captured' },
);

/** How a hook, or the redaction, decided on a call. */
export const HookRunView = Type.Object(
  {
    name: Type.String({ description: 'The name of the hook; `redaction` for what is replaced in requests.' }),
    on: Type.Enum(['request', 'answer']),
    result: Type.Enum(['passed', 'changed', 'refused', 'failed'], {
      description: '`failed`: it could not be asked, or its answer was not valid.',
    }),
    ms: Type.Number({ minimum: 0, description: 'How long it took, of a stream in all.' }),
    message: nullable(
      Type.String({ description: 'Why it refused or failed, or how much was replaced; null otherwise.' }),
    ),
  },
  { $id: 'HookRun' },
);

/** A wait until other calls had ended. */
const WaitView = Type.Object({
  limit: Type.Enum(['key', 'model', 'provider'], { description: 'What ran as many calls as it may.' }),
  name: Type.String({ description: 'The id of the key, or the name of the model or provider.' }),
  position: Type.Integer({ minimum: 1, description: 'The place in the queue when the wait began.' }),
  started_ms: Type.Number({ minimum: 0 }),
  ms: Type.Number({ minimum: 0 }),
});

/** The steps and timings of a finished or rejected call, without any content. */
export const TraceView = Type.Object(
  {
    ...finishedCall,
    model: nullable(
      Type.String({
        description: 'Of a rejected call the model that was requested; null if there was none.',
      }),
    ),
    key: nullable(
      Type.String({
        description: 'The id of the calling key or login; null for a caller without a valid one.',
      }),
    ),
    status: Type.Enum([...traceStatuses], {
      description:
        '`canceled`: the client disconnected, or the key was revoked or paused. `interrupted`: the daemon stopped before the answer was complete. `rejected`: the call got an error before any provider was asked.',
    }),
    error_code: nullable(
      Type.String({
        description:
          'The error code; null on success. `client_left`: the client left before the call was accepted.',
      }),
    ),
    client: nullable(
      Type.String({ description: 'The first product of the `User-Agent`: `claude-cli/2.1.4`.' }),
    ),
    user: nullable(Type.String({ description: 'The end user for whom the call was made, if it named one.' })),
    conversation: nullable(
      Type.String({ description: 'The conversation, thread or session that the call named.' }),
    ),
    tags: Type.Record(Type.String(), Type.String()),
    replay_of: nullable(Type.String({ description: 'The id of the request that this call repeated.' })),
    http_status: nullable(
      Type.Integer({
        description: 'The status of the response; null if the client left without one, or it is not known.',
      }),
    ),
    rejection: nullable(RejectionView),
    finish_reason: nullable(
      Type.String({
        description: '`stop`, `max_output_tokens` or `content_filter`; null without an answer.',
      }),
    ),
    provider_finish_reason: nullable(
      Type.String({ description: 'The provider’s own word for it; null where it says no more.' }),
    ),
    served_model: nullable(
      Type.String({
        description:
          'The model that the provider says has answered; null if that is the one it was asked for, or it does not say.',
      }),
    ),
    timings: Type.Object({
      admitted_ms: Milliseconds('Routes were planned and the hold was placed.'),
      held_ms: Milliseconds('The hold was on disk; null if it was written together with the settlement.'),
      first_token_ms: Milliseconds('The provider started to answer.'),
      total_ms: Type.Number({ minimum: 0, description: 'The answer was complete or abandoned.' }),
      settled_ms: Milliseconds(
        'The settlement was on disk; the end of the answer is sent only then. Available for the latest 10,000 calls since the daemon started, otherwise null.',
      ),
    }),
    queue_ms: Milliseconds('How long it waited in queues altogether; null if it did not.'),
    waits: Type.Array(WaitView, {
      description: 'How it waited until limits of concurrent calls let it go on.',
    }),
    attempts: Type.Array(TraceAttempt),
    routes: nullable(
      Type.Array(Type.Object({ provider: Type.String(), model: Type.String() }), {
        description: 'The best available routes, best first, at most eight.',
      }),
    ),
    tokens: TokenCounts,
    tokens_reported: Type.Boolean({
      description: 'Whether the provider reported them; otherwise they are estimated.',
    }),
    cost: nullable(CostView),
    prices: nullable(PricesView),
    cache: nullable(
      Type.Enum(['hit', 'miss'], {
        description: 'Whether the response cache had the answer; null for a call that did not use it.',
      }),
    ),
    captured: Type.Union([CapturedView, Type.Null()], {
      description: 'What is kept of its content; null in a list that did not learn it in 50 ms.',
    }),
    charged_usd: Usd,
    own_key: Type.Boolean({ description: 'Whether the workspace’s own provider key was used.' }),
    ...subscriptionMembers,
    dropped: Type.Array(DroppedMember, {
      description:
        'Parts of the request that the provider’s format cannot express, or that exceed the context with which a server runs the model.',
    }),
    hooks: Type.Optional(
      Type.Array(HookRunView, {
        description: 'The hooks that saw the call, in their order; absent if there were none.',
      }),
    ),
  },
  { $id: 'Trace', description: 'Times are milliseconds since the request arrived.' },
);

const readers = { apiKey: ['traces:read', 'traces'], login: 'any' } as const;

export const getTrace = endpoint({
  id: 'getTrace',
  method: 'GET',
  path: '/v1/traces/{request_id}',
  summary: 'Get the trace of a request.',
  description:
    'Attempts, timings, tokens, cost and available routes of a finished request, or the reason why it was rejected; no content.',
  tag: 'Traces',
  access: readers,
  params: finishedRequest,
  result: TraceView,
});

export const cancelCall = endpoint({
  id: 'cancelCall',
  method: 'POST',
  path: '/v1/traces/{request_id}/cancel',
  summary: 'Cancel a running call.',
  description:
    'For owners and admins of the workspace. The provider is disconnected, what was generated is charged, and the client gets 409 `conflict`, as an event where its stream has begun.',
  tag: 'Traces',
  access: { login: 'admin', loginOnly: true },
  params: Type.Object({
    request_id: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'As in the event `request.started`: `req_…`.',
    }),
  }),
  result: Type.Object({
    object: Type.Literal('call.cancellation'),
    request_id: Type.String(),
    canceled: Type.Boolean({ description: 'Whether it was running; false for a call that was over.' }),
  }),
});

/** The filters of lists and counts of calls; all that are given have to match. */
export const traceFilters = {
  q: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description:
        'A query such as `status:failed model:openai/* -client:curl >4s >$0.05 since:2h "some text"`, which has to match as well. Words are `status`, `error`, `endpoint`, `model`, `provider`, `key` (id or name), `client`, `user`, `conversation`, `tag`, `http` (the status of the response), `replay`, `since` and `until`. `*` stands for any text, so that `-user:*` has the calls without a user; after `=`, as in `client:=curl`, values are whole texts. A text is searched for in what was asked and answered, which needs the scope `content:read`.',
    }),
  ),
  status: Type.Optional(
    Type.String({
      pattern: `^(${traceStatuses.join('|')})(,(${traceStatuses.join('|')}))*$`,
      maxLength: 128,
      description: `Only calls with one of these, separated by commas: ${traceStatuses.map((status) => `\`${status}\``).join(', ')}.`,
    }),
  ),
  model: Type.Optional(
    Type.String({
      maxLength: 256,
      description:
        'Only calls of this model, or rejected calls that requested it by this name. `*` stands for any text, here and in the other filters.',
    }),
  ),
  provider: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Only calls answered by this provider, or that failed there last.',
    }),
  ),
  key: Type.Optional(Type.String({ maxLength: 64, description: 'Only calls of this key.' })),
  error_code: Type.Optional(Type.String({ maxLength: 64, description: 'Only calls with this error code.' })),
  endpoint: Type.Optional(
    Type.String({ maxLength: 256, description: 'Only calls of this path: `/v1/responses`.' }),
  ),
  client: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Only calls by this client, in any version (`claude-cli`) or one (`claude-cli/2.1.4`).',
    }),
  ),
  user: Type.Optional(Type.String({ maxLength: 256, description: 'Only calls for this end user.' })),
  conversation: Type.Optional(
    Type.String({ maxLength: 256, description: 'Only calls of this conversation.' }),
  ),
  tag: Type.Optional(
    Type.String({ maxLength: 128, description: 'Only calls with this tag: `team=search`.' }),
  ),
  http_status: Type.Optional(
    Type.String({
      maxLength: 3,
      description: 'Only calls whose response had this status: `502`, or `5*` for all that begin with 5.',
    }),
  ),
  replay_of: Type.Optional(
    Type.String({ pattern: requestIdPattern, description: 'Only calls that repeat this request.' }),
  ),
  min_total_ms: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1e9, description: 'Only calls that took at least as long.' }),
  ),
  min_cost_usd: Type.Optional(amount('Only calls that cost at least as much, in dollars.')),
  ...timeRange,
};

export const traceSortings = ['time', 'total_ms', 'cost'] as const;

export const listTraces = endpoint({
  id: 'listTraces',
  method: 'GET',
  path: '/v1/traces',
  summary: 'List traces.',
  description:
    'Finished and rejected requests of the whole workspace, most recent first. The owner of the host also gets rejected calls without a valid key.',
  tag: 'Traces',
  access: readers,
  query: Type.Object({
    ...pageQuery('req'),
    ...traceFilters,
    sort: Type.Optional(
      Type.Enum([...traceSortings], {
        description:
          'Default: `time`, newest first. `total_ms` and `cost` give the finished calls that took longest or cost most.',
      }),
    ),
    fields: Type.Optional(
      Type.Literal('brief', {
        description: 'Leaves out `routes`, which is null, and `dropped`, which is empty.',
      }),
    ),
  }),
  result: Type.Object({
    ...listOf(TraceView).properties,
    scanned: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Of a search, how many finished calls were looked at. After 50 ms a page ends before it is full; `next` continues.',
      }),
    ),
    is_partial: Type.Optional(
      Type.Boolean({
        description:
          'Of a list that is not sorted by time, whether there was no time to look at all calls, so that some may be missing; it then has no next page.',
      }),
    ),
  }),
});

const Facet = (description: string) =>
  Type.Object(
    {
      values: Type.Array(Type.Object({ value: Type.String(), calls: Count }), {
        description: 'The most frequent ones first, at most 50.',
      }),
      other: Type.Integer({ minimum: 0, description: 'Calls with further values.' }),
      none: Type.Integer({ minimum: 0, description: 'Calls without a value.' }),
      is_partial: Type.Boolean({
        description:
          'Whether only the calls since `counted_since` were counted, as there was no time for all.',
      }),
    },
    { description },
  );

/** How many calls have each status, model, key, … */
export const TraceFacets = Type.Object(
  {
    object: Type.Literal('trace.facets'),
    calls: Type.Integer({
      minimum: 0,
      description:
        'All calls that match, finished and rejected, with the rejected ones that have no trace of their own.',
    }),
    counted_since: nullable(Timestamp),
    facets: Type.Object({
      status: Facet('By status, `rejected` included.'),
      error: Facet('By error code.'),
      model: Facet('By model, or the requested one of a rejected call.'),
      provider: Facet('By the provider that answered, or at which a failed call failed last.'),
      key: Facet('By the id of a key or login.'),
      client: Facet('By client.'),
      user: Facet('By end user.'),
      tag: Facet('By tag: `team=search`. A call with several is counted by each.'),
      conversation: Facet('By conversation.'),
      endpoint: Facet('By path.'),
    }),
  },
  { $id: 'TraceFacets' },
);

export const getTraceFacets = endpoint({
  id: 'getTraceFacets',
  method: 'GET',
  path: '/v1/traces/facets',
  summary: 'Count calls by status, error, model, key and more.',
  description:
    'Of finished and rejected requests of the whole workspace that match the filters. Totals answer as far as there are some for the filters; what they lack is counted for some 30 ms, newest first.',
  tag: 'Traces',
  access: readers,
  query: Type.Object(traceFilters),
  result: TraceFacets,
});

export type TraceFacets = Static<typeof TraceFacets>;
export type TraceView = Static<typeof TraceView>;
export type TraceAttempt = Static<typeof TraceAttempt>;
