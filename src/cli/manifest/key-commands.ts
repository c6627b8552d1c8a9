import {
  checkProviderKey,
  deleteProviderKey,
  exportVault,
  getKey,
  getLimits,
  getVault,
  issueKey,
  listKeys,
  listProviderKeys,
  putProviderKey,
  revokeKey,
  rotateVault,
  setKeyDefaults,
  setLimits,
  showKey,
  unlockVault,
} from './endpoints.ts';
import { type CommandEntry, type NounEntry, rowsOf } from './entry.ts';

/** API keys, and the provider keys that calls are made with. */
export const keyCommands: Record<string, CommandEntry | NounEntry> = {
  keys: {
    summary: 'Manage API keys.',
    verbs: {
      issue: {
        summary: 'Issue an API key.',
        endpoint: issueKey,
        options: ['name'],
        load: async () => (await import('../commands/keys/keys.ts')).issueKeyCommand,
      },
      list: {
        summary: "List a workspace's keys, without secrets.",
        endpoint: listKeys,
        lists: {
          completes: ['key'],
          suggest: rowsOf(
            listKeys,
            { params: { workspace: 'me' }, query: { limit: 100 } },
            ({ id, name, status }) => (status === 'active' ? { value: id, meaning: name } : undefined),
          ),
        },
        load: async () => (await import('../commands/keys/keys.ts')).listKeysCommand,
      },
      show: {
        summary: 'Show a key and how much of its limits is used.',
        endpoint: showKey,
        load: async () => (await import('../commands/keys/keys.ts')).showKeyCommand,
      },
      limits: {
        summary: "Get or set a key's limits.",
        endpoint: [getLimits, setLimits],
        load: async () => (await import('../commands/keys/limits.ts')).limitsCommand,
      },
      defaults: {
        summary: "Set a key's defaults.",
        endpoint: setKeyDefaults,
        load: async () => (await import('../commands/keys/defaults.ts')).keyDefaultsCommand,
      },
      revoke: {
        summary: 'Revoke a key and the keys it issued, immediately.',
        endpoint: revokeKey,
        load: async () => (await import('../commands/keys/keys.ts')).revokeKeyCommand,
      },
      default: {
        summary: 'Print the API key issued on first start.',
        load: async () => (await import('../commands/keys/keys.ts')).defaultKeyCommand,
      },
    },
  },
  key: {
    summary: 'Show the permissions, limits and spending of the key in use.',
    endpoint: getKey,
    load: async () => (await import('../commands/keys/keys.ts')).keyCommand,
  },
  'provider-keys': {
    summary: "Manage a workspace's own provider keys.",
    verbs: {
      set: {
        summary: 'Add or replace a provider key.',
        endpoint: putProviderKey,
        load: async () => (await import('../commands/provider-keys.ts')).setProviderKeyCommand,
      },
      list: {
        summary: 'List provider keys by fingerprint.',
        endpoint: listProviderKeys,
        load: async () => (await import('../commands/provider-keys.ts')).listProviderKeysCommand,
      },
      delete: {
        summary: 'Delete a provider key.',
        endpoint: deleteProviderKey,
        load: async () => (await import('../commands/provider-keys.ts')).deleteProviderKeyCommand,
      },
      check: {
        summary: 'Check that the provider accepts the key.',
        endpoint: checkProviderKey,
        load: async () => (await import('../commands/provider-keys.ts')).checkProviderKeyCommand,
      },
    },
  },
  vault: {
    summary: 'Manage the vault that encrypts provider keys.',
    alone: 'status',
    verbs: {
      status: {
        summary: 'Show whether the vault is unlocked and where its master key is stored.',
        endpoint: getVault,
        load: async () => (await import('../commands/vault.ts')).vaultStatusCommand,
      },
      unlock: {
        summary: 'Unlock the vault with the keychain, a passphrase or an exported key.',
        endpoint: unlockVault,
        load: async () => (await import('../commands/vault.ts')).unlockVaultCommand,
      },
      rotate: {
        summary: 'Re-encrypt all secrets under a new master key.',
        endpoint: rotateVault,
        load: async () => (await import('../commands/vault.ts')).rotateVaultCommand,
      },
      export: {
        summary: 'Print the master key, to keep on paper.',
        endpoint: exportVault,
        load: async () => (await import('../commands/vault.ts')).exportVaultCommand,
      },
    },
  },
};
