import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { maybe, nullable, Timestamp, Usd, WorkspaceReference } from './vocabulary.ts';

/** What a key may be issued for: the kinds of model calls. */
export const actionNames = ['responses', 'chat', 'compact'] as const;

export type ActionName = (typeof actionNames)[number];

/** One of them. */
export const Action = Type.Enum([...actionNames], {
  description:
    'A kind of model call: `responses` (`POST /v1/responses`, WebSockets included), `chat` (`POST /v1/chat/completions`), `compact` (`POST /v1/responses/compact`).',
});

/** The most patterns in one list of models. */
const modelPatternsMax = 100;

/** Which models: ids and patterns of ids. */
export const ModelPatterns = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  minItems: 1,
  maxItems: modelPatternsMax,
  description: 'Model ids; `*` stands for any characters.',
});

const Amount = Type.String({
  pattern: '^[0-9]{1,7}(\\.[0-9]{1,9})?$',
  description: 'Dollars, not below zero: `"5"` or `"0.25"`.',
});

/** The limits that are to change: what is left out stays, null clears. */
export const LimitsChange = Type.Object(
  {
    spend_cap: maybe(
      Type.Object(
        { usd: Amount, period: Type.Enum(['day', 'month', 'total']) },
        {
          additionalProperties: false,
          description: 'The most that it may spend in a period; periods are those of UTC.',
        },
      ),
    ),
    max_price: maybe(
      Type.Object(
        { input: maybe(Amount), output: maybe(Amount) },
        { additionalProperties: false, description: 'The price cap, in dollars per million tokens.' },
      ),
    ),
    models: maybe(ModelPatterns),
    requests_per_minute: maybe(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Calls in any 60 seconds.' }),
    ),
    expires_at: maybe(Type.String({ format: 'date-time', description: 'A time to come, ISO 8601 in UTC.' })),
  },
  {
    $id: 'LimitsChange',
    additionalProperties: false,
    description: 'What is left out stays as it is; null clears.',
  },
);

/** What the owner of a key allows it; null where nothing is limited. Periods are those of UTC. */
export const Limits = Type.Object(
  {
    spend_cap: nullable(
      Type.Object(
        { usd: Usd, period: Type.Enum(['day', 'month', 'total']) },
        { description: 'The most that it may spend in a period; periods are those of UTC.' },
      ),
    ),
    max_price: nullable(
      Type.Object(
        { input: nullable(Usd), output: nullable(Usd) },
        { description: 'The price cap, in dollars per million tokens.' },
      ),
    ),
    models: nullable(Type.Array(Type.String(), { description: 'Model ids; `*` stands for any characters.' })),
    requests_per_minute: nullable(Type.Integer({ minimum: 1 })),
    expires_at: nullable(Timestamp),
  },
  { $id: 'Limits', description: 'What the key’s owner allows it; null where nothing is limited.' },
);

/** A key of a workspace in a path. */
export const keyPath = Type.Object({
  workspace: WorkspaceReference,
  key: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the key: `key_…`.' }),
});

/** Tells the owner of a key what it is held to. */
export const getLimits = endpoint({
  id: 'getLimits',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/keys/{key}/limits',
  summary: 'Get the limits of a key.',
  tag: 'Keys',
  access: { login: 'any', loginOnly: true },
  surface: 'v1',
  params: keyPath,
  result: Limits,
  errors: ['unauthenticated', 'signed_out', 'permission', 'not_found', 'invalid_request'],
});

/** Changes what a key is held to. */
export const setLimits = endpoint({
  id: 'setLimits',
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/keys/{key}/limits',
  summary: 'Set the limits of a key.',
  description:
    'Only the key’s owner may, and never the key itself. What is left out stays, null clears. It counts for the next request; running answers of a key that expires are ended.',
  tag: 'Keys',
  access: { login: 'any', loginOnly: true },
  surface: 'v1',
  params: keyPath,
  body: LimitsChange,
  result: Limits,
  errors: ['unauthenticated', 'signed_out', 'permission', 'not_found', 'invalid_request'],
});

export type Limits = Static<typeof Limits>;
export type LimitsChange = Static<typeof LimitsChange>;
