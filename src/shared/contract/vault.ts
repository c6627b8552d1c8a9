import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Count, nullable, StrictObject, Timestamp } from './vocabulary.ts';

const Store = Type.Enum(['file', 'keychain', 'passphrase', 'plain']);

/** Whether sealed secrets can be opened. */
export const VaultState = Type.Enum(['unlocked', 'sealed', 'wrong_key', 'no_vault'], {
  description:
    '`sealed`: the master key is not available; `wrong_key`: a different master key was found; `no_vault`: none has been created.',
});

/** The state of the vault, for the daemon's owner. */
export const VaultStatus = Type.Object(
  {
    state: VaultState,
    store: nullable(Store),
    key_id: nullable(Type.String({ description: 'The id of the master key; not a secret.' })),
    made_at: nullable(Timestamp),
    secrets: Count,
    reason: nullable(
      Type.String({
        description:
          'Why it is not open and how to fix it, for people; null if it is open or not yet needed.',
      }),
    ),
  },
  { $id: 'VaultStatus' },
);

const access = { login: 'owner', loginOnly: true } as const;

export const getVault = endpoint({
  id: 'getVault',
  method: 'GET',
  path: '/v1/admin/vault',
  summary: 'Get the vault’s status.',
  description: 'The vault seals provider keys. Its master key is stored outside the database.',
  tag: 'Vault',
  access,
  result: VaultStatus,
});

export const unlockVault = endpoint({
  id: 'unlockVault',
  method: 'POST',
  path: '/v1/admin/vault/unlock',
  summary: 'Unlock the vault.',
  description:
    'Looks up the master key again, or accepts what opens it. Without a vault, a passphrase creates one.',
  tag: 'Vault',
  access,
  body: Type.Object(
    {
      passphrase: Type.Optional(Type.String({ minLength: 8, maxLength: 1024 })),
      master_key: Type.Optional(
        Type.String({
          pattern: '^\\s*([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)\\s*$',
          maxLength: 128,
          description: 'The text printed by an export.',
        }),
      ),
    },
    {
      additionalProperties: false,
      not: { properties: { passphrase: {}, master_key: {} }, required: ['passphrase', 'master_key'] },
      description: 'Either a passphrase or a master key; neither to read the stored key again.',
    },
  ),
  bodyRequired: false,
  result: VaultStatus,
  errors: ['conflict', 'rate_limited'],
});

export const rotateVault = endpoint({
  id: 'rotateVault',
  method: 'POST',
  path: '/v1/admin/vault/rotate',
  summary: 'Rotate the master key.',
  description:
    'Seals every secret under a new master key and verifies it before the old one is discarded. Older backups can only be opened with an export of the old key.',
  tag: 'Vault',
  access,
  body: StrictObject({
    to: Type.Optional(Store),
    passphrase: Type.Optional(
      Type.String({
        minLength: 8,
        maxLength: 1024,
        description: 'The new passphrase, for the store `passphrase`.',
      }),
    ),
  }),
  bodyRequired: false,
  result: VaultStatus,
  errors: ['conflict'],
});

export const exportVault = endpoint({
  id: 'exportVault',
  method: 'POST',
  path: '/v1/admin/vault/export',
  summary: 'Export the master key.',
  description: 'Anyone who has it and the database can read every sealed secret.',
  tag: 'Vault',
  access,
  result: Type.Object(
    { key_id: Type.String(), master_key: Type.String({ description: '32 bytes in base64url.' }) },
    { $id: 'VaultExport' },
  ),
  errors: ['conflict'],
});

export type VaultStatus = Static<typeof VaultStatus>;
