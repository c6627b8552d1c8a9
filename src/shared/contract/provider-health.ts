import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Count, nullable, Timestamp, timeRange } from './vocabulary.ts';

/** How many half hours the strip of a model has. */
export const healthStripLength = 48;

/** How a provider answered the requests for one of its models. */
export const ProviderHealth = Type.Object(
  {
    provider: Type.String(),
    model: Type.String({ description: 'The provider’s name for the model.' }),
    attempts: Count,
    failed: Type.Integer({
      minimum: 0,
      description: 'Attempts that failed, but for those whose request the provider rejected as invalid.',
    }),
    share_ok: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'The share that did not fail; null without attempts.',
      }),
    ),
    first_byte_ms: Type.Object(
      { p50: nullable(Type.Number({ minimum: 0 })), p95: nullable(Type.Number({ minimum: 0 })) },
      { description: 'Until an answer began; off by at most a tenth.' },
    ),
    errors: Type.Array(Type.Object({ error_code: Type.String(), attempts: Count }), {
      description: 'The most frequent ones first.',
    }),
    last_failure: nullable(
      Type.Object({
        request_id: Type.String(),
        at: Timestamp,
        status: Type.Integer({ description: 'The provider’s HTTP status; 0 without a response.' }),
        error_code: Type.String(),
        message: nullable(Type.String()),
      }),
    ),
    is_benched: Type.Boolean({ description: 'Whether it is left out, or tried last, just now.' }),
    benched: Type.Array(
      Type.Object({
        since: Timestamp,
        until: Timestamp,
        reason: Type.String({
          description: '`authentication`, `billing`, `rate-limited`, `unknown-model` or `failing`.',
        }),
      }),
      { description: 'Since the start of the daemon, oldest first, the latest 20.' },
    ),
    strip: Type.Array(Type.Object({ start: Timestamp, attempts: Count, failed: Count }), {
      description: `The last ${healthStripLength} half hours, oldest first.`,
    }),
  },
  { $id: 'ProviderHealth' },
);

export const getProvidersHealth = endpoint({
  id: 'getProvidersHealth',
  method: 'GET',
  path: '/v1/providers/health',
  summary: 'Show how providers answered.',
  description:
    'Per provider and model, from the finished requests of the whole workspace: attempts by the half hour in which their request finished, rounded outwards and kept for 35 days, and when the provider was benched. The default is the last 24 hours.',
  tag: 'Traces',
  access: { apiKey: ['traces:read', 'traces'], login: 'any' },
  query: Type.Object({ since: timeRange.since }),
  result: Type.Object({
    object: Type.Literal('list'),
    since: Timestamp,
    data: Type.Array(ProviderHealth, { description: 'By provider, those with the most attempts first.' }),
    has_more: Type.Literal(false),
    next: Type.Null(),
  }),
});

export type ProviderHealth = Static<typeof ProviderHealth>;
