import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { callStatuses, finishedCall } from './usage.ts';
import {
  CostView,
  finishedRequest,
  listOf,
  nullable,
  pageQuery,
  TimeBound,
  TokenCounts,
  Usd,
} from './vocabulary.ts';

const Milliseconds = (description: string) => nullable(Type.Number({ minimum: 0, description }));

/** One try to have a call answered, with its place in time. */
export const TraceAttempt = Type.Object(
  {
    provider: Type.String(),
    model: Type.String({ description: 'The model that was asked for there.' }),
    status: Type.Integer({ description: 'The provider’s HTTP status; 0 when it gave none.' }),
    error_code: nullable(Type.String({ description: 'Why it failed; null when it did not.' })),
    started_ms: Milliseconds('When it began.'),
    ended_ms: Milliseconds('When it failed or began to answer; the answer goes on until `total_ms`.'),
  },
  { $id: 'TraceAttempt' },
);

/** One finished call: what it went through and when, without anything that was said. */
export const TraceView = Type.Object(
  {
    ...finishedCall,
    error_code: nullable(Type.String({ description: 'Why it failed; null when it did not.' })),
    finish_reason: nullable(
      Type.String({ description: '`stop`, `max_output_tokens` or `content_filter`; null without an end.' }),
    ),
    timings: Type.Object({
      admitted_ms: Milliseconds('Its routes were planned and its money set aside.'),
      held_ms: Milliseconds('That was on disk; null when it was written together with the settlement.'),
      first_token_ms: Milliseconds('A provider began to answer.'),
      total_ms: Type.Number({ minimum: 0, description: 'The answer was complete, or given up.' }),
      settled_ms: Milliseconds(
        'What it cost was on disk; its end is told no earlier. Known of the latest 10,000 calls since the daemon began, else null.',
      ),
    }),
    attempts: Type.Array(TraceAttempt),
    routes: nullable(
      Type.Array(Type.Object({ provider: Type.String(), model: Type.String() }), {
        description: 'The best routes that it could take, best first, eight at most.',
      }),
    ),
    tokens: TokenCounts,
    tokens_reported: Type.Boolean({ description: 'Whether the provider counted them; else an estimate.' }),
    cost: nullable(CostView),
    charged_usd: Usd,
    own_key: Type.Boolean({ description: 'Whether the workspace’s own provider key was used.' }),
  },
  { $id: 'Trace', description: 'Times are milliseconds since the request came.' },
);

const readers = { apiKey: ['traces:read', 'traces'], login: 'any' } as const;

/** Tells what one finished call went through. */
export const getTrace = endpoint({
  id: 'getTrace',
  method: 'GET',
  path: '/v1/traces/{request_id}',
  summary: 'Get the trace of a finished request.',
  description:
    'Its attempts and timings, tokens, cost, and the routes that it could take; nothing that was said.',
  tag: 'Traces',
  access: readers,
  surface: 'v1',
  params: finishedRequest,
  result: TraceView,
  errors: ['unauthenticated', 'out_of_scope', 'not_found', 'invalid_request'],
});

/** Lists finished calls of the workspace, those that ended last first. */
export const listTraces = endpoint({
  id: 'listTraces',
  method: 'GET',
  path: '/v1/traces',
  summary: 'List the traces of finished requests.',
  description: 'Those of the whole workspace; the request that ended last comes first.',
  tag: 'Traces',
  access: readers,
  surface: 'v1',
  query: Type.Object({
    ...pageQuery,
    status: Type.Optional(Type.Enum([...callStatuses], { description: 'Only calls that ended so.' })),
    model: Type.Optional(Type.String({ maxLength: 256, description: 'Only calls of this model.' })),
    provider: Type.Optional(Type.String({ maxLength: 64, description: 'Only calls that it answered.' })),
    key: Type.Optional(Type.String({ maxLength: 64, description: 'Only calls of this key.' })),
    since: Type.Optional(TimeBound),
    until: Type.Optional(TimeBound),
  }),
  result: listOf(TraceView),
  errors: ['unauthenticated', 'out_of_scope', 'invalid_request', 'unavailable'],
});

export type TraceView = Static<typeof TraceView>;
export type TraceAttempt = Static<typeof TraceAttempt>;
