import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { KeyDefaults, KeyDefaultsChange } from './key-defaults.ts';
import { Action, actionNames, keyPath, Limits, LimitsChange, ModelPatterns } from './key-limits.ts';
import {
  Count,
  deleted,
  dollars,
  listOf,
  nullable,
  OneLine,
  pageQuery,
  Scope,
  Timestamp,
  Usd,
  WorkspaceReference,
} from './vocabulary.ts';

/** A key as lists show it: never with its secret. */
export const Key = Type.Object(
  {
    id: Type.String({ description: '`key_…`' }),
    name: Type.String(),
    workspace: Type.String({ description: 'The id of the workspace that the key belongs to.' }),
    owner: Type.String({ description: 'The id of the user who issued it; only they may set its limits.' }),
    status: Type.Enum(['active', 'revoked', 'expired']),
    scopes: Type.Array(Scope),
    models: nullable(Type.Array(Type.String(), { description: 'The only models it was issued for.' })),
    actions: nullable(Type.Array(Action, { description: 'The only actions it was issued for.' })),
    limits: Limits,
    defaults: KeyDefaults,
    hint: Type.String({ description: 'What the secret is recognised by: `gwk_aB3d…x9Zk`.' }),
    created_at: Timestamp,
    last_used_at: nullable(Timestamp),
    revoked_at: nullable(Timestamp),
  },
  { $id: 'Key', description: 'An API key, never with its secret.' },
);

const SpendUsd = Type.Object(
  { total: Usd, day: Usd, month: Usd },
  { description: 'Ever, today and this month; periods are those of UTC.' },
);

/** A key, and what of its limits is used up. */
export const KeyWithUse = Type.Object(
  {
    ...Key.properties,
    used: Type.Object({
      spend_usd: SpendUsd,
      requests_last_minute: Count,
    }),
  },
  { $id: 'KeyWithUse', description: 'An API key and what of its limits is used up.' },
);

/** A key at the moment of its making: the only time that its secret is told. */
export const IssuedKey = Type.Object(
  {
    key: Key,
    secret: Type.String({
      description: 'What to send as `Authorization: Bearer …`. It is never told again.',
    }),
  },
  { $id: 'IssuedKey' },
);

/** What an agent may still use without paying, per UTC day. */
export const FreeTier = Type.Object(
  {
    requests: Type.Object({ limit: Count, used: Count }),
    budget_usd: Type.Object({ limit: Usd, used: Usd }),
    shared_pool: Type.Object({ state: Type.String() }),
    resets_at: Timestamp,
  },
  {
    $id: 'FreeTier',
    description: 'What an agent may still use today without paying; the day is that of UTC.',
  },
);

/** The calling key as it sees itself. */
export const KeyView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    workspace: Type.String({ description: 'The id of its workspace.' }),
    scopes: Type.Array(Scope),
    created_at: Timestamp,
    last_used_at: nullable(Timestamp),
    balance_usd: nullable(dollars('Prepaid dollars; null where nothing is prepaid.')),
    spend_usd: SpendUsd,
    limits: Limits,
    free_tier: nullable(FreeTier),
  },
  { $id: 'CallingKey', description: 'The calling key or login as it sees itself.' },
);

/** Longest name of a key, in characters. */
export const keyNameCharsMax = 64;

/** Lists the keys of a workspace, revoked ones too. */
export const listKeys = endpoint({
  id: 'listKeys',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/keys',
  summary: 'List the keys of a workspace.',
  description: 'Newest first, revoked ones too, without secrets.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'member' },
  surface: 'v1',
  params: Type.Object({ workspace: WorkspaceReference }),
  query: Type.Object(pageQuery),
  result: listOf(Key),
  errors: ['unauthenticated', 'out_of_scope', 'permission', 'invalid_request'],
});

/** Issues a key. The secret is in this answer and never again. */
export const issueKey = endpoint({
  id: 'issueKey',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/keys',
  summary: 'Issue a key.',
  description:
    'The secret is in this answer and never again. `models` and `actions` hold for its whole life, `limits` and `defaults` until its owner changes them. A key that issues another hands on only scopes that it has itself; the new key takes over its limits and defaults, and what it spends counts against both. Plain members may issue keys where their workspace allows it.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'admin' },
  surface: 'v1',
  params: Type.Object({ workspace: WorkspaceReference }),
  body: Type.Object(
    {
      name: Type.Optional(OneLine({ maxLength: keyNameCharsMax, description: 'By which people know it.' })),
      scopes: Type.Optional(
        Type.Array(Scope, {
          minItems: 1,
          maxItems: 32,
          description: 'What the key may do; `responses`, `models:read` and `usage:read` unless told.',
        }),
      ),
      models: Type.Optional(ModelPatterns),
      actions: Type.Optional(
        Type.Array(Action, {
          minItems: 1,
          maxItems: actionNames.length,
          description: 'The only model calls that the key may make, for its whole life.',
        }),
      ),
      limits: Type.Optional(LimitsChange),
      defaults: Type.Optional(KeyDefaultsChange),
    },
    { additionalProperties: false },
  ),
  bodyRequired: false,
  result: IssuedKey,
  errors: ['unauthenticated', 'out_of_scope', 'permission', 'invalid_request'],
});

const RevokedKey = Type.Object({
  ...deleted('key').properties,
  also_revoked: Type.Array(Type.String(), {
    description: 'The ids of the keys that ended with it: those that it had issued, and those that they had.',
  }),
});

/** Ends a key and those that it issued at once: calls with them are refused and their running streams stop. */
export const revokeKey = endpoint({
  id: 'revokeKey',
  underLoad: 'kept',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/keys/{key}',
  summary: 'Revoke a key.',
  description:
    'It takes effect now: calls with it are refused, and its running streams end. The keys that it had issued end with it.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'any' },
  surface: 'v1',
  params: Type.Object({
    workspace: WorkspaceReference,
    key: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the key: `key_…`.' }),
  }),
  result: RevokedKey,
  errors: ['unauthenticated', 'out_of_scope', 'not_found', 'invalid_request'],
});

/** One key of a workspace, and what it used. */
export const showKey = endpoint({
  id: 'showKey',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/keys/{key}',
  summary: 'Get one key and what it used.',
  description: 'Its spending, and that of the keys that it issued, as it counts against its limits.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'member' },
  surface: 'v1',
  params: keyPath,
  result: KeyWithUse,
  errors: ['unauthenticated', 'out_of_scope', 'not_found', 'invalid_request'],
});

/** Shows the calling key to itself. */
export const getKey = endpoint({
  id: 'getKey',
  method: 'GET',
  path: '/v1/key',
  summary: 'Get the calling key.',
  description: 'What it may do, what it has spent, and its limits.',
  tag: 'Keys',
  access: { apiKey: 'any', login: 'any', agent: true },
  surface: 'v1',
  result: KeyView,
  errors: ['unauthenticated'],
});

export type Key = Static<typeof Key>;
export type KeyView = Static<typeof KeyView>;
export type KeyWithUse = Static<typeof KeyWithUse>;
