import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { calendarSettings } from './spend-calendar.ts';
import { amount, maybe, nullable, Timestamp, Usd, WorkspaceReference } from './vocabulary.ts';

/** Kinds of model calls that a key can be restricted to. */
export const actionNames = ['responses', 'chat', 'messages', 'compact', 'embeddings', 'decisions'] as const;

export type ActionName = (typeof actionNames)[number];

export const Action = Type.Enum([...actionNames], {
  description:
    'A kind of model call: `responses` (`POST /v1/responses`, WebSockets included), `chat` (`POST /v1/chat/completions`), `messages` (`POST /v1/messages`), `compact` (`POST /v1/responses/compact`), `embeddings` (`POST /v1/embeddings`), `decisions` (`POST /v1/decisions` and `/v1/systemone`).',
});

/** Maximum number of patterns in a list of models. */
const modelPatternsMax = 100;

/** Model ids and patterns. */
export const ModelPatterns = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  minItems: 1,
  maxItems: modelPatternsMax,
  description: 'Model ids; `*` matches any characters.',
});

const Amount = amount('Dollars, from 0 to 9,000,000: `"5"` or `"0.25"`.');

/** A maximum spending per period. */
export function spendCap(description: string) {
  return Type.Object(
    { usd: Amount, period: Type.Enum(['day', 'month', 'total']) },
    { additionalProperties: false, description },
  );
}

/** The same of a key, by a calendar of its own. */
const KeySpendCap = Type.Object(
  { usd: Amount, period: Type.Enum(['day', 'week', 'month', 'total']), ...calendarSettings },
  {
    additionalProperties: false,
    description: 'Maximum spending per period, in UTC unless a time zone is set.',
  },
);

/** Changes to a key's limits: omitted members are unchanged, null clears. */
export const LimitsChange = Type.Object(
  {
    spend_cap: maybe(KeySpendCap),
    max_price: maybe(
      Type.Object(
        { input: maybe(Amount), output: maybe(Amount) },
        { additionalProperties: false, description: 'Maximum prices, in dollars per million tokens.' },
      ),
    ),
    models: maybe(ModelPatterns),
    requests_per_minute: maybe(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Calls per 60 seconds.' }),
    ),
    concurrency: maybe(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'Calls that run at a time; others wait.' }),
    ),
    queue_seconds: maybe(
      Type.Integer({
        minimum: 0,
        maximum: 3600,
        description:
          'How long a call waits at most until others have ended; 30 by default, 0 to reject it immediately.',
      }),
    ),
    expires_at: maybe(
      Type.String({
        format: 'date-time',
        description: 'A future time, ISO 8601 with `Z` or an offset: `2027-01-31T00:00:00+01:00`.',
      }),
    ),
  },
  {
    $id: 'LimitsChange',
    additionalProperties: false,
    description: 'Omitted members are unchanged; null clears.',
  },
);

/** The limits of a key; null where there is none. */
export const Limits = Type.Object(
  {
    spend_cap: nullable(
      Type.Object(
        { usd: Usd, period: Type.Enum(['day', 'week', 'month', 'total']), ...calendarSettings },
        { description: 'Maximum spending per period, in UTC unless it has a time zone.' },
      ),
    ),
    max_price: nullable(
      Type.Object(
        { input: nullable(Usd), output: nullable(Usd) },
        { description: 'Maximum prices, in dollars per million tokens.' },
      ),
    ),
    models: nullable(Type.Array(Type.String(), { description: 'Model ids; `*` matches any characters.' })),
    requests_per_minute: nullable(Type.Integer({ minimum: 1 })),
    concurrency: nullable(
      Type.Integer({ minimum: 1, description: 'Calls that run at a time; others wait.' }),
    ),
    queue_seconds: nullable(
      Type.Integer({ minimum: 0, description: 'How long a call waits at most; null for 30 seconds.' }),
    ),
    expires_at: nullable(Timestamp),
  },
  { $id: 'Limits', description: 'The limits of the key; null where there is none.' },
);

export const keyPath = Type.Object({
  workspace: WorkspaceReference,
  key: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the key: `key_…`.' }),
});

export const getLimits = endpoint({
  id: 'getLimits',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/keys/{key}/limits',
  summary: 'Get the limits of a key.',
  tag: 'Keys',
  access: { login: 'any', loginOnly: true },
  params: keyPath,
  result: Limits,
});

export const setLimits = endpoint({
  id: 'setLimits',
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/keys/{key}/limits',
  summary: 'Set the limits of a key.',
  description:
    'Only the key’s owner may change them, never the key itself. Omitted members are unchanged; null clears. Applies from the next request; when a key expires, its running streams are ended.',
  tag: 'Keys',
  access: { login: 'any', loginOnly: true },
  params: keyPath,
  body: LimitsChange,
  result: Limits,
});

export type Limits = Static<typeof Limits>;
export type LimitsChange = Static<typeof LimitsChange>;
