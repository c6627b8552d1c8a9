import { type Static, type TSchema, Type } from 'typebox';
import { type Access, scopeNames } from './endpoint.ts';

/** Shapes that the contracts of several domains share. Source: part 1 of the field decisions. */

/** A time: ISO 8601 in UTC, `2026-11-21T08:54:15.000Z`. */
export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, in UTC.' });

/** Dollars as a plain decimal, at most nine places: `"0.000042"`. Never a float. */
export function dollars(description: string) {
  return Type.String({ pattern: '^-?[0-9]+(\\.[0-9]{1,9})?$', description });
}

export const Usd = dollars('Dollars: `"0.000042"`.');

export const Count = Type.Integer({ minimum: 0 });

export const Scope = Type.Enum([...scopeNames]);

/** Anybody may call, with or without a credential; a wrong one is refused all the same. */
export const everyone = {
  anonymous: true,
  apiKey: 'any',
  login: 'any',
  token: 'any',
  agent: true,
} as const satisfies Access;

const control = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';

/** One line without control characters that neither begins nor ends with white space. */
export const oneLinePattern = `^[^\\s${control}]([^${control}]*[^\\s${control}])?$`;

/** A name or another word that people gave something: whatever has one takes this. */
export function OneLine({ maxLength, description }: { maxLength: number; description: string }) {
  return Type.String({ minLength: 1, maxLength, pattern: oneLinePattern, description });
}

/** A workspace in a path. */
export const WorkspaceReference = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The id or slug of a workspace; `me` is the caller’s own.',
});

/** A finished request in a path. */
export const finishedRequest = Type.Object({
  request_id: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The `x-request-id` of the answer: `req_…`.',
  }),
});

/** When something is asked for since or until: a time, or a day. */
export const TimeBound = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?Z)?$',
  description: 'A UTC time, or a day with all its hours: `2026-11-21T08:54:15Z` or `2026-11-21`.',
});

/** A value or null: null says that there is none, and the member is always there. */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

/** A member that may be left out; null is the same as leaving it out. */
export function maybe<S extends TSchema>(schema: S) {
  return Type.Optional(nullable(schema));
}

/** An object of any members. */
export const AnyObject = Type.Record(Type.String(), Type.Unknown());

/** One page of a list, newest first. `next` is what to send as `after` for the page that follows, null on the last. */
export function listOf<S extends TSchema>(item: S) {
  return Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(item),
    has_more: Type.Boolean(),
    next: nullable(
      Type.String({ description: 'Send it as `after` for the page that follows; null on the last.' }),
    ),
  });
}

/** What a list is asked with, beside the filters of its own. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'How many; 20 unless told.' })),
  after: Type.Optional(Type.String({ maxLength: 64, description: 'The `next` of the page before.' })),
};

export const pageSizeDefault = 20;

/** The answer to a deletion. */
export function deleted<const Name extends string>(object: Name) {
  return Type.Object({ id: Type.String(), object: Type.Literal(object), deleted: Type.Literal(true) });
}

/** How many tokens one or more answers took. */
export const TokenCounts = Type.Object(
  { input: Count, cached_input: Count, cache_write: Count, output: Count, reasoning: Count },
  {
    $id: 'TokenCounts',
    description: 'Tokens: `input` includes `cached_input` and `cache_write`, `output` includes `reasoning`.',
  },
);

/** What an answer costs: total = provider + margin. */
export const CostView = Type.Object(
  { provider_usd: Usd, margin_usd: Usd, total_usd: Usd },
  { $id: 'Cost', description: 'The provider’s price, the host’s margin, and their sum.' },
);

/** One try to have a call answered by one provider. */
export const AttemptView = Type.Object(
  {
    provider: Type.String(),
    model: Type.String({ description: 'The model’s name there.' }),
    status: Type.Integer({ description: 'The provider’s HTTP status; 0 when it gave none.' }),
    error_code: nullable(Type.String({ description: 'Why it failed; null when it did not.' })),
    ms: Type.Number({ minimum: 0, description: 'Milliseconds until it answered or failed.' }),
  },
  { $id: 'Attempt' },
);

export type TokenCounts = Static<typeof TokenCounts>;
export type CostView = Static<typeof CostView>;
