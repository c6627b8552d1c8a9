import * as endpoints from '../endpoints.ts';
import { type CommandEntry, type NounEntry, rowsOf } from './entry.ts';

/** API keys, and the provider keys that calls are made with. */
export const keyCommands: Record<string, CommandEntry | NounEntry> = {
  keys: {
    summary: 'Manage API keys.',
    verbs: {
      issue: {
        summary: 'Issue an API key.',
        endpoint: endpoints.issueKey,
        options: ['name'],
        load: async () => (await import('../commands/keys/keys.ts')).issueKeyCommand,
      },
      list: {
        summary: "List a workspace's keys, without secrets.",
        endpoint: endpoints.listKeys,
        lists: {
          completes: ['key'],
          suggest: rowsOf(
            endpoints.listKeys,
            { params: { workspace: 'me' }, query: { limit: 100 } },
            ({ id, name, status }) => (status === 'active' ? { value: id, meaning: name } : undefined),
          ),
        },
        load: async () => (await import('../commands/keys/list-keys.ts')).listKeysCommand,
      },
      show: {
        summary: 'Show a key and how much of its limits is used.',
        endpoint: endpoints.showKey,
        load: async () => (await import('../commands/keys/keys.ts')).showKeyCommand,
      },
      limits: {
        summary: "Get or set a key's limits.",
        endpoint: [endpoints.getLimits, endpoints.setLimits],
        load: async () => (await import('../commands/keys/limits.ts')).limitsCommand,
      },
      defaults: {
        summary: "Set a key's defaults.",
        endpoint: endpoints.setKeyDefaults,
        load: async () => (await import('../commands/keys/defaults.ts')).keyDefaultsCommand,
      },
      revoke: {
        summary: 'Revoke a key and the keys it issued, immediately.',
        endpoint: endpoints.revokeKey,
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
    endpoint: endpoints.getKey,
    load: async () => (await import('../commands/keys/keys.ts')).keyCommand,
  },
  'provider-keys': {
    summary: "Manage a workspace's own provider keys.",
    verbs: {
      set: {
        summary: 'Add or replace a provider key.',
        endpoint: endpoints.putProviderKey,
        load: async () => (await import('../commands/provider-keys.ts')).setProviderKeyCommand,
      },
      list: {
        summary: 'List provider keys by fingerprint.',
        endpoint: endpoints.listProviderKeys,
        load: async () => (await import('../commands/provider-keys.ts')).listProviderKeysCommand,
      },
      delete: {
        summary: 'Delete a provider key.',
        endpoint: endpoints.deleteProviderKey,
        load: async () => (await import('../commands/provider-keys.ts')).deleteProviderKeyCommand,
      },
      check: {
        summary: 'Check that the provider accepts the key.',
        endpoint: endpoints.checkProviderKey,
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
        endpoint: endpoints.getVault,
        load: async () => (await import('../commands/vault.ts')).vaultStatusCommand,
      },
      unlock: {
        summary: 'Unlock the vault with the keychain, a passphrase or an exported key.',
        endpoint: endpoints.unlockVault,
        load: async () => (await import('../commands/vault.ts')).unlockVaultCommand,
      },
      rotate: {
        summary: 'Re-encrypt all secrets under a new master key.',
        endpoint: endpoints.rotateVault,
        load: async () => (await import('../commands/vault.ts')).rotateVaultCommand,
      },
      export: {
        summary: 'Print the master key, to keep on paper.',
        endpoint: endpoints.exportVault,
        load: async () => (await import('../commands/vault.ts')).exportVaultCommand,
      },
    },
  },
};
