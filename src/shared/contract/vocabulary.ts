import {
  type Static,
  type TObjectOptions,
  type TProperties,
  type TSchema,
  type TStringOptions,
  Type,
} from 'typebox';
import type { IdPrefix } from '../ids.ts';
import { timePattern } from '../time/time.ts';
import { type Access, scopeNames } from './endpoint.ts';

/** Shapes shared by several domains. Source: part 1 of the field decisions. */

/** An object that has no other members. */
export function StrictObject<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

/** For the options of an object: exactly one of these optional members is required. */
export function exactlyOneOf(...members: string[]) {
  return { oneOf: members.map((member) => ({ required: [member] })) };
}

/** For the options of an object: what it must also be if its `type` is one of these. */
export function ifType(types: readonly string[], then: object) {
  return { if: { properties: { type: { enum: types } }, required: ['type'] }, then };
}

/** A time: ISO 8601 in UTC, `2026-11-21T08:54:15.000Z`. */
export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601, in UTC.' });

/** Dollars as a plain decimal with at most nine places: `"0.000042"`. Never a float. */
export function dollars(description: string) {
  return Type.String({ pattern: '^-?[0-9]+(\\.[0-9]{1,9})?$', description });
}

export const Usd = dollars('Dollars: `"0.000042"`.');

export const Count = Type.Integer({ minimum: 0 });

/** Of the id of a call: other gateways put signatures into them, which providers with a limit get shortened. */
export const callIdCharactersMax = 65_536;

export const Scope = Type.Enum([...scopeNames]);

/** Access for everyone, with or without a credential; an invalid one is still rejected. */
export const everyone = {
  anonymous: true,
  apiKey: 'any',
  login: 'any',
  token: 'any',
  agent: true,
} as const satisfies Access;

/**
 * For what costs as much to refuse: pages and their files, as a page that lacks one stays blank, and probes, as a daemon whose
 * probes are refused is taken for one that fails.
 */
export const everyoneUnlimited = { ...everyone, anonymous: 'unlimited' } as const satisfies Access;

const control = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';

/** One line without control characters and without leading or trailing white space. */
export const oneLinePattern = `^[^\\s${control}]([^${control}]*[^\\s${control}])?$`;

/** A user-defined name. */
export function OneLine({ maxLength, description }: { maxLength: number; description: string }) {
  return Type.String({ minLength: 1, maxLength, pattern: oneLinePattern, description });
}

/** A user's handle: unique on the host, and not to be taken for `me`, an id or a number. */
export function Handle(maxLength: number) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '^(?![Mm][Ee]$)(?![Uu][Ss][Rr]_)(?![0-9]+$)[A-Za-z0-9][A-Za-z0-9_-]*$',
    description:
      'Letters, digits, `_` and `-`, such as `ann-lee`. Unique on this host; stored in lower case. `me`, numbers and what starts with `usr_` are reserved.',
  });
}

/** Dollars that a limit or price can have. */
export function amount(description: string) {
  return Type.String({
    pattern: '^(([0-9]{1,6}|[0-8][0-9]{6})(\\.[0-9]{1,9})?|9000000(\\.0{1,9})?)$',
    description,
  });
}

export const WorkspaceReference = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The id or slug of a workspace; `me` is the caller’s own.',
});

export const finishedRequest = Type.Object({
  request_id: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The `x-request-id` of the response: `req_…`.',
  }),
});

function timeBound(description: string) {
  return Type.Optional(
    Type.String({
      pattern: timePattern,
      description,
    }),
  );
}

/** Query parameters that select finished calls by time. */
export const timeRange = {
  since: timeBound(
    'From this time or the start of this UTC day: `2026-11-21T08:54:15Z` or `2026-11-21`. From 2020 to tomorrow.',
  ),
  until: timeBound(
    'Before this time or through this whole UTC day: `2026-11-21T08:54:15Z` or `2026-11-21`. Through tomorrow at the latest.',
  ),
};

/** A value or null; the member is always present. */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()]);
}

/** An optional member; null is the same as omitting it. */
export function maybe<S extends TSchema>(schema: S) {
  return Type.Optional(nullable(schema));
}

/**
 * An object whose names and values are both checked. The names need a keyword of their own: a record of TypeBox ignores
 * the lengths of its names, and accepts any value of a member whose name misses its pattern.
 */
export function mapOf<S extends TSchema>(names: TStringOptions, value: S, options: TObjectOptions = {}) {
  return Type.Record(Type.String(), value, { ...options, propertyNames: names });
}

/** An object with any members. */
export const AnyObject = Type.Record(Type.String(), Type.Unknown());

/** One page of a list, newest first. Send `next` as `after` for the next page; null on the last one. */
export function listOf<S extends TSchema>(item: S) {
  return Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(item),
    has_more: Type.Boolean(),
    next: nullable(
      Type.String({ description: 'Send it as `after` for the next page; null on the last one.' }),
    ),
  });
}

/** Query parameters of a list of objects whose ids have this prefix, besides its filters. */
export function pageQuery(prefix: IdPrefix) {
  return {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size; default 20.' })),
    after: Type.Optional(
      Type.String({ pattern: `^${prefix}_[0-9a-z]{26}$`, description: 'The `next` of the previous page.' }),
    ),
  };
}

/**
 * For the query of endpoints that clients of other services call: those send parameters that we lack, such as `include`.
 * Elsewhere unknown parameters are refused, since a filter or cursor without effect misleads.
 */
export const otherParameters = { additionalProperties: true } as const;

export const pageSizeDefault = 20;

/** The result of a deletion. */
export function deleted<const Name extends string>(object: Name) {
  return Type.Object({ id: Type.String(), object: Type.Literal(object), deleted: Type.Literal(true) });
}

/** Token counts of one or more answers. */
export const TokenCounts = Type.Object(
  { input: Count, cached_input: Count, cache_write: Count, output: Count, reasoning: Count },
  {
    $id: 'TokenCounts',
    description: 'Tokens: `input` includes `cached_input` and `cache_write`, `output` includes `reasoning`.',
  },
);

/** The cost of an answer: total = provider + margin. */
/** Of a call for which the client's own login at the provider paid; absent for all others. */
export const subscriptionMembers = {
  billing: Type.Optional(
    Type.Literal('subscription', {
      description:
        'Set if the client’s own login at the provider paid: `cost` is 0 then, and `own_key` true.',
    }),
  ),
  list_cost_usd: Type.Optional(
    nullable(dollars('What the call would have cost in dollars; null if its price is unknown.')),
  ),
};

export const CostView = Type.Object(
  { provider_usd: Usd, margin_usd: Usd, total_usd: Usd },
  { $id: 'Cost', description: 'The provider’s price, the host’s margin, and their sum.' },
);

/** An attempt to get an answer from a provider. */
export const AttemptView = Type.Object(
  {
    provider: Type.String(),
    model: Type.String({ description: 'The provider’s name for the model.' }),
    status: Type.Integer({ description: 'The provider’s HTTP status; 0 without a response.' }),
    error_code: nullable(Type.String({ description: 'The error code; null on success.' })),
    ms: Type.Number({ minimum: 0, description: 'Milliseconds until it answered or failed.' }),
  },
  { $id: 'Attempt' },
);

export type TokenCounts = Static<typeof TokenCounts>;
export type CostView = Static<typeof CostView>;
