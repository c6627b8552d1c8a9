import { type Static, Type } from 'typebox';
import { abilityNames, endpoint } from './endpoint.ts';
import { dataOf, RowId } from './site.ts';
import { nullable, OneLine, Timestamp } from './vocabulary.ts';

const Abilities = Type.Array(Type.Enum([...abilityNames]), {
  description: 'What it may do on the site API; `*` is everything.',
});

/** An access token, never with its secret. */
export const AccessToken = Type.Object(
  {
    id: Type.String({ description: '`tok_…`' }),
    name: Type.String(),
    abilities: Abilities,
    lastUsedAt: nullable(Timestamp),
    expiresAt: nullable(Timestamp),
    createdAt: Timestamp,
    isCurrent: Type.Boolean({ description: 'Whether it is the one that asks.' }),
  },
  { $id: 'AccessToken' },
);

const access = { login: 'any', token: '*' } as const;
const errors = ['unauthenticated', 'permission'] as const;
const takesEffect = 'It takes effect now: calls with it are refused, and its running streams end.';

/** Lists the caller's own access tokens. */
export const listTokens = endpoint({
  id: 'listTokens',
  method: 'GET',
  path: '/api/tokens',
  summary: 'List your access tokens.',
  description: 'Those that were not revoked, newest first.',
  tag: 'Tokens',
  access,
  surface: 'site',
  result: dataOf(Type.Array(AccessToken)),
  errors,
});

/** Makes an access token for the caller. */
export const createToken = endpoint({
  id: 'createToken',
  method: 'POST',
  path: '/api/tokens',
  summary: 'Make an access token.',
  description:
    'The secret is in this answer and never again. A token that makes another hands on at most its own time.',
  tag: 'Tokens',
  access,
  surface: 'site',
  body: Type.Object(
    {
      name: OneLine({ maxLength: 100, description: 'By which you recognise it.' }),
      abilities: Type.Optional(
        Type.Array(Type.Enum([...abilityNames]), {
          minItems: 1,
          maxItems: 32,
          description: '`["*"]`, everything, unless told.',
        }),
      ),
      expires_at: Type.Optional(
        nullable(
          Type.String({
            maxLength: 32,
            description: 'When it ends: a time in UTC or a day; never unless told.',
          }),
        ),
      ),
    },
    { additionalProperties: false },
  ),
  result: dataOf(
    Type.Object({
      token: Type.String({ description: 'To send as `Authorization: Bearer …`.' }),
      id: Type.String({ description: '`tok_…`' }),
      tokenableId: Type.Integer({ ...RowId, description: 'The id of its user.' }),
      name: Type.String(),
      abilities: Abilities,
      expiresAt: nullable(Timestamp),
    }),
  ),
  errors: [...errors, 'invalid_request'],
});

/** Revokes the token that is calling. */
export const revokeCurrentToken = endpoint({
  id: 'revokeCurrentToken',
  method: 'DELETE',
  path: '/api/tokens/current',
  summary: 'Revoke the calling access token.',
  description: `${takesEffect} A login has none: it is told 404.`,
  tag: 'Tokens',
  // Whatever a token may do, it may end itself.
  access: { login: 'any', token: 'any' },
  surface: 'site',
  result: dataOf(Type.Object({ deleted: Type.Literal(true) })),
  errors: [...errors, 'not_found'],
});

/** Revokes one access token of the caller. */
export const revokeToken = endpoint({
  id: 'revokeToken',
  method: 'DELETE',
  path: '/api/tokens/{tokenId}',
  summary: 'Revoke an access token.',
  description: takesEffect,
  tag: 'Tokens',
  access,
  surface: 'site',
  params: Type.Object({
    tokenId: Type.String({ minLength: 1, maxLength: 64, description: 'The id of one of your tokens.' }),
  }),
  result: dataOf(Type.Object({ deleted: Type.Literal(true) })),
  errors: [...errors, 'not_found'],
});

/** Revokes all access tokens of the caller. */
export const revokeTokens = endpoint({
  id: 'revokeTokens',
  method: 'DELETE',
  path: '/api/tokens',
  summary: 'Revoke all of your access tokens.',
  description: 'It takes effect now, also for the one that asks.',
  tag: 'Tokens',
  access,
  surface: 'site',
  result: dataOf(Type.Object({ deletedCount: Type.Integer({ minimum: 0 }) })),
  errors,
});

export type AccessToken = Static<typeof AccessToken>;
