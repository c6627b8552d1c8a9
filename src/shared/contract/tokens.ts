import { type Static, Type } from 'typebox';
import { timePattern } from '../time/time.ts';
import { abilityNames, endpoint } from './endpoint.ts';
import { dataOf, RowId } from './site.ts';
import { nullable, OneLine, StrictObject, Timestamp } from './vocabulary.ts';

const Abilities = Type.Array(Type.Enum([...abilityNames]), {
  description: 'Its abilities on the site API; `*` is all of them.',
});

/** An access token without its secret. */
export const AccessToken = Type.Object(
  {
    id: Type.String({ description: '`tok_…`' }),
    name: Type.String(),
    abilities: Abilities,
    lastUsedAt: nullable(Timestamp),
    expiresAt: nullable(Timestamp),
    createdAt: Timestamp,
    isCurrent: Type.Boolean({ description: 'Whether it is the calling token.' }),
  },
  { $id: 'AccessToken' },
);

const access = { login: 'any', token: '*' } as const;
const takesEffect = 'Takes effect immediately: its calls are rejected and its running streams end.';

export const listTokens = endpoint({
  id: 'listTokens',
  method: 'GET',
  path: '/api/tokens',
  summary: 'List your access tokens.',
  description: 'Tokens that were not revoked, newest first.',
  tag: 'Tokens',
  access,
  result: dataOf(Type.Array(AccessToken)),
});

export const createToken = endpoint({
  id: 'createToken',
  method: 'POST',
  path: '/api/tokens',
  summary: 'Create an access token.',
  description:
    'Only this response contains the secret. A token that creates another cannot extend its own expiry.',
  tag: 'Tokens',
  access,
  body: StrictObject({
    name: OneLine({ maxLength: 100, description: 'A name to recognise it by.' }),
    abilities: Type.Optional(
      Type.Array(Type.Enum([...abilityNames]), {
        minItems: 1,
        maxItems: 32,
        description: 'Default: `["*"]`, all abilities.',
      }),
    ),
    expires_at: Type.Optional(
      nullable(
        Type.String({
          maxLength: 40,
          pattern: timePattern,
          description: 'Expiry: `2027-01-31T00:00:00+01:00`, or a UTC day, `2027-01-31`; default: never.',
        }),
      ),
    ),
  }),
  result: dataOf(
    Type.Object({
      token: Type.String({ description: 'Send it as `Authorization: Bearer …`.' }),
      id: Type.String({ description: '`tok_…`' }),
      tokenableId: Type.Integer({ ...RowId, description: 'The id of its user.' }),
      name: Type.String(),
      abilities: Abilities,
      expiresAt: nullable(Timestamp),
    }),
  ),
});

export const revokeCurrentToken = endpoint({
  id: 'revokeCurrentToken',
  method: 'DELETE',
  path: '/api/tokens/current',
  summary: 'Revoke the calling access token.',
  description: `${takesEffect} Returns 404 for a login.`,
  tag: 'Tokens',
  // Any token may revoke itself.
  access: { login: 'any', token: 'any' },
  result: dataOf(Type.Object({ deleted: Type.Literal(true) })),
});

export const revokeToken = endpoint({
  id: 'revokeToken',
  method: 'DELETE',
  path: '/api/tokens/{tokenId}',
  summary: 'Revoke an access token.',
  description: takesEffect,
  tag: 'Tokens',
  access,
  params: Type.Object({
    tokenId: Type.String({ minLength: 1, maxLength: 64, description: 'The id of one of your tokens.' }),
  }),
  result: dataOf(Type.Object({ deleted: Type.Literal(true) })),
});

export const revokeTokens = endpoint({
  id: 'revokeTokens',
  method: 'DELETE',
  path: '/api/tokens',
  summary: 'Revoke all of your access tokens.',
  description: 'Takes effect immediately, including for the calling token.',
  tag: 'Tokens',
  access,
  result: dataOf(Type.Object({ deletedCount: Type.Integer({ minimum: 0 }) })),
});

export type AccessToken = Static<typeof AccessToken>;
