import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { Count, nullable, Timestamp } from './vocabulary.ts';

const Store = Type.Enum(['file', 'keychain', 'passphrase', 'plain']);

/** Whether sealed secrets can be opened now. */
export const VaultState = Type.Enum(['unlocked', 'sealed', 'wrong_key', 'no_vault'], {
  description:
    '`sealed`: the master key cannot be had now; `wrong_key`: another one was found; `no_vault`: none was made yet.',
});

/** The vault as the daemon's owner sees it. */
export const VaultStatus = Type.Object(
  {
    state: VaultState,
    store: nullable(Store),
    key_id: nullable(Type.String({ description: 'Which master key is used; not a secret.' })),
    made_at: nullable(Timestamp),
    secrets: Count,
    reason: nullable(
      Type.String({
        description:
          'Why it is not open and what helps, for people; null when it is open, or none was needed yet.',
      }),
    ),
  },
  { $id: 'VaultStatus' },
);

const access = { login: 'owner', loginOnly: true } as const;
const common = ['unauthenticated', 'signed_out', 'permission'] as const;

/** Tells whether sealed secrets can be opened. */
export const getVault = endpoint({
  id: 'getVault',
  method: 'GET',
  path: '/v1/admin/vault',
  summary: 'Get the vault’s status.',
  description: 'The vault seals provider keys. Its master key is kept outside of the database.',
  tag: 'Vault',
  access,
  surface: 'v1',
  result: VaultStatus,
  errors: common,
});

/** Opens the vault. */
export const unlockVault = endpoint({
  id: 'unlockVault',
  method: 'POST',
  path: '/v1/admin/vault/unlock',
  summary: 'Unlock the vault.',
  description:
    'Looks for the master key again, or takes what opens it. A passphrase where there is no vault yet makes one.',
  tag: 'Vault',
  access,
  surface: 'v1',
  body: Type.Object(
    {
      passphrase: Type.Optional(Type.String({ minLength: 8, maxLength: 1024 })),
      master_key: Type.Optional(
        Type.String({ minLength: 1, maxLength: 128, description: 'What an export printed.' }),
      ),
    },
    { additionalProperties: false },
  ),
  bodyRequired: false,
  result: VaultStatus,
  errors: [...common, 'invalid_request', 'conflict', 'rate_limited', 'unavailable'],
});

/** Puts every secret under a new master key. */
export const rotateVault = endpoint({
  id: 'rotateVault',
  method: 'POST',
  path: '/v1/admin/vault/rotate',
  summary: 'Rotate the master key.',
  description:
    'Every secret is put under a new master key and opened with it before the old one is dropped. Backups from before open only with an export of the old one.',
  tag: 'Vault',
  access,
  surface: 'v1',
  body: Type.Object(
    {
      to: Type.Optional(Store),
      passphrase: Type.Optional(
        Type.String({
          minLength: 8,
          maxLength: 1024,
          description: 'The new one, for the store `passphrase`.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  bodyRequired: false,
  result: VaultStatus,
  errors: [...common, 'invalid_request', 'conflict', 'unavailable'],
});

/** Tells the master key, so that it can be kept on paper. */
export const exportVault = endpoint({
  id: 'exportVault',
  method: 'POST',
  path: '/v1/admin/vault/export',
  summary: 'Export the master key.',
  description: 'Whoever has it and the database can read every sealed secret.',
  tag: 'Vault',
  access,
  surface: 'v1',
  result: Type.Object(
    { key_id: Type.String(), master_key: Type.String({ description: '32 bytes in base64url.' }) },
    { $id: 'VaultExport' },
  ),
  errors: [...common, 'conflict', 'unavailable'],
});

export type VaultStatus = Static<typeof VaultStatus>;
