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
  StrictObject,
  Timestamp,
  Usd,
  WorkspaceReference,
} from './vocabulary.ts';

/** A key without its secret. */
export const Key = Type.Object(
  {
    id: Type.String({ description: '`key_…`' }),
    name: Type.String(),
    workspace: Type.String({ description: 'The id of the workspace that the key belongs to.' }),
    owner: Type.String({ description: 'The id of the user who issued it; only they can set its limits.' }),
    status: Type.Enum(['active', 'paused', 'revoked', 'expired']),
    scopes: Type.Array(Scope),
    models: nullable(Type.Array(Type.String(), { description: 'The only models the key may call.' })),
    actions: nullable(Type.Array(Action, { description: 'The only actions the key may perform.' })),
    limits: Limits,
    defaults: KeyDefaults,
    hint: Type.String({ description: 'The recognisable part of the secret: `gwk_aB3d…x9Zk`.' }),
    created_at: Timestamp,
    last_used_at: nullable(Timestamp),
    revoked_at: nullable(Timestamp),
    rotated_at: nullable(Timestamp),
    paused_at: nullable(Timestamp),
  },
  { $id: 'Key', description: 'An API key without its secret.' },
);

const SpendUsd = Type.Object(
  { total: Usd, day: Usd, month: Usd },
  { description: 'In total, today and this month, in UTC.' },
);

const PreviousSecret = Type.Object({
  hint: Type.String({ description: 'The recognisable part of the secret.' }),
  replaced_at: Timestamp,
  ends_at: Timestamp,
  last_used_at: nullable(
    Type.String({ format: 'date-time', description: 'Since it was replaced; null if no program used it.' }),
  ),
});

/** A key and the use of its limits. */
export const KeyWithUse = Type.Object(
  {
    ...Key.properties,
    used: Type.Object({
      spend_usd: SpendUsd,
      spend_cap: nullable(
        Type.Object(
          { spent_usd: Usd, period_start: nullable(Timestamp), resets_at: nullable(Timestamp) },
          { description: 'What is spent of its cap in this period; null without a cap.' },
        ),
      ),
      requests_last_minute: Count,
    }),
    previous_secrets: Type.Array(PreviousSecret, {
      description: 'The secrets that it had before rotations and that still work, newest first.',
    }),
  },
  { $id: 'KeyWithUse', description: 'An API key and the use of its limits.' },
);

/** A newly issued key: the only response that contains the secret. */
export const IssuedKey = Type.Object(
  {
    key: Key,
    secret: Type.String({
      description: 'Send it as `Authorization: Bearer …`. It is not shown again.',
    }),
  },
  { $id: 'IssuedKey' },
);

/** What is left of an agent's free allowance per UTC day. */
export const FreeTier = Type.Object(
  {
    requests: Type.Object({ limit: Count, used: Count }),
    budget_usd: Type.Object({ limit: Usd, used: Usd }),
    shared_pool: Type.Object({
      state: Type.Enum(['open', 'full'], {
        description:
          '`full`: what is left for all agents today was too little for the last call, which got `agent_free_tier_full`. Calls that cost nothing stay free.',
      }),
    }),
    resets_at: Timestamp,
  },
  {
    $id: 'FreeTier',
    description: 'What is left of the agent’s free allowance today, in UTC.',
  },
);

/** The calling key. */
export const KeyView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    workspace: Type.String({ description: 'The id of its workspace.' }),
    scopes: Type.Array(Scope),
    created_at: Timestamp,
    last_used_at: nullable(Timestamp),
    balance_usd: nullable(dollars('Prepaid dollars; null for postpaid workspaces.')),
    spend_usd: SpendUsd,
    limits: Limits,
    free_tier: nullable(FreeTier),
  },
  { $id: 'CallingKey', description: 'The calling key or login.' },
);

/** Maximum time for which a replaced secret still works. */
export const graceSecondsMax = 90 * 24 * 60 * 60;

/** Maximum length of a key's name, in characters. */
export const keyNameCharsMax = 64;

/** Needed to revoke a key by its name. */
export const listKeys = endpoint({
  id: 'listKeys',
  underLoad: 'kept',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/keys',
  summary: 'List the keys of a workspace.',
  description: 'Newest first, including revoked keys; without secrets.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'member' },
  params: Type.Object({ workspace: WorkspaceReference }),
  query: Type.Object(pageQuery('key')),
  result: listOf(Key),
});

export const issueKey = endpoint({
  id: 'issueKey',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/keys',
  summary: 'Issue a key.',
  description:
    'Only this response contains the secret. `models` and `actions` are fixed for the key’s lifetime; `limits` and `defaults` can be changed by its owner. A key that issues another can grant only its own scopes; the new key inherits its limits and defaults, and spending counts against both. Plain members may issue keys if their workspace allows it.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'admin' },
  params: Type.Object({ workspace: WorkspaceReference }),
  body: StrictObject({
    name: Type.Optional(OneLine({ maxLength: keyNameCharsMax, description: 'A name to recognise it by.' })),
    scopes: Type.Optional(
      Type.Array(Scope, {
        minItems: 1,
        maxItems: 32,
        description: 'The key’s scopes; default `responses`, `models:read` and `usage:read`.',
      }),
    ),
    models: Type.Optional(ModelPatterns),
    actions: Type.Optional(
      Type.Array(Action, {
        minItems: 1,
        maxItems: actionNames.length,
        description: 'The only model calls the key may make; fixed for its lifetime.',
      }),
    ),
    limits: Type.Optional(LimitsChange),
    defaults: Type.Optional(KeyDefaultsChange),
  }),
  bodyRequired: false,
  result: IssuedKey,
});

/** A key with its new secret. */
export const RotatedKey = Type.Object(
  {
    key: Key,
    secret: Type.String({
      description: 'Send it as `Authorization: Bearer …`. It is not shown again.',
    }),
    previous: Type.Object({
      hint: Type.String({ description: 'The recognisable part of the secret that was replaced.' }),
      ends_at: Timestamp,
    }),
  },
  { $id: 'RotatedKey' },
);

const RevokedKey = Type.Object({
  ...deleted('key').properties,
  also_revoked: Type.Array(Type.String(), {
    description: 'The ids of the keys revoked with it: those it issued, directly or indirectly.',
  }),
});

/** Revokes a key and the keys it issued: their calls are rejected and their running streams end immediately. */
export const revokeKey = endpoint({
  id: 'revokeKey',
  underLoad: 'kept',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/keys/{key}',
  summary: 'Revoke a key.',
  description:
    'Takes effect immediately: its calls are rejected and its running streams end. Keys it issued are revoked too.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'any' },
  params: Type.Object({
    workspace: WorkspaceReference,
    key: Type.String({ minLength: 1, maxLength: 64, description: 'The id of the key: `key_…`.' }),
  }),
  result: RevokedKey,
});

export const rotateKey = endpoint({
  id: 'rotateKey',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/keys/{key}/rotate',
  summary: 'Give a key a new secret.',
  description:
    'The key keeps its id, limits and history; only this response contains the new secret. The old secret works for `grace_seconds` more, and its answers say until when in `X-Service-Key-Expires`. Without a grace period it ends immediately, with all earlier ones and what runs with them. Only the owner of a key can rotate it, and a key itself and those it issued; not with a secret that was replaced. Of rotations at the same time one succeeds and the others get 409.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'any' },
  params: keyPath,
  body: StrictObject({
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: graceSecondsMax,
        description: 'How long the old secret still works, at most 90 days; default: 0.',
      }),
    ),
  }),
  bodyRequired: false,
  errors: ['conflict'],
  result: RotatedKey,
});

export const pauseKey = endpoint({
  id: 'pauseKey',
  underLoad: 'kept',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/keys/{key}/pause',
  summary: 'Pause a key.',
  description:
    'Takes effect immediately: its calls, and those of keys it issued, get 403 `key_paused`, and their running streams end, until it is resumed.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'any' },
  params: keyPath,
  result: Key,
});

export const resumeKey = endpoint({
  id: 'resumeKey',
  method: 'POST',
  path: '/v1/workspaces/{workspace}/keys/{key}/resume',
  summary: 'Resume a paused key.',
  description: 'Takes effect immediately.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'any' },
  params: keyPath,
  result: Key,
});

export const showKey = endpoint({
  id: 'showKey',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/keys/{key}',
  summary: 'Get a key and its spending.',
  description: 'Includes the spending of keys it issued, as counted against its limits.',
  tag: 'Keys',
  access: { apiKey: 'keys', login: 'member' },
  params: keyPath,
  result: KeyWithUse,
});

export const getKey = endpoint({
  id: 'getKey',
  method: 'GET',
  path: '/v1/key',
  summary: 'Get the calling key.',
  description: 'Its scopes, spending and limits.',
  tag: 'Keys',
  access: { apiKey: 'any', login: 'any', agent: true },
  result: KeyView,
});

export type Key = Static<typeof Key>;
export type KeyView = Static<typeof KeyView>;
export type KeyWithUse = Static<typeof KeyWithUse>;
export type FreeTierView = Static<typeof FreeTier>;
