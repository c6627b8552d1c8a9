import type { Noun, Verb } from './verb.ts';

/** Who may call, and with whose account at a provider. */
export const keyCommands: Record<string, Verb | Noun> = {
  keys: {
    summary: 'API keys.',
    verbs: {
      issue: {
        summary: 'Issue an API key.',
        load: async () => (await import('../commands/keys/keys.ts')).issueKeyCommand,
      },
      list: {
        summary: 'List the keys of a workspace, without secrets.',
        load: async () => (await import('../commands/keys/keys.ts')).listKeysCommand,
      },
      show: {
        summary: 'Show one key, and what of its limits is used up.',
        load: async () => (await import('../commands/keys/keys.ts')).showKeyCommand,
      },
      limits: {
        summary: 'Get or set what a key is limited to.',
        load: async () => (await import('../commands/keys/limits.ts')).limitsCommand,
      },
      defaults: {
        summary: 'Set what holds for a key’s calls that do not say.',
        load: async () => (await import('../commands/keys/defaults.ts')).keyDefaultsCommand,
      },
      revoke: {
        summary: 'Revoke a key and those that it issued; it takes effect now.',
        load: async () => (await import('../commands/keys/keys.ts')).revokeKeyCommand,
      },
      default: {
        summary: 'Print the key that the first start issued.',
        load: async () => (await import('../commands/keys/keys.ts')).defaultKeyCommand,
      },
    },
  },
  key: {
    summary: 'Show the calling key: what it may do and what it spent.',
    load: async () => (await import('../commands/keys/keys.ts')).keyCommand,
  },
  'provider-keys': {
    summary: 'A workspace’s own keys for providers.',
    verbs: {
      set: {
        summary: 'Store a key, or put another in its place.',
        load: async () => (await import('../commands/provider-keys.ts')).setProviderKeyCommand,
      },
      list: {
        summary: 'List the keys by provider and fingerprint.',
        load: async () => (await import('../commands/provider-keys.ts')).listProviderKeysCommand,
      },
      delete: {
        summary: 'Delete a key.',
        load: async () => (await import('../commands/provider-keys.ts')).deleteProviderKeyCommand,
      },
      check: {
        summary: 'Ask the provider whether it takes the key.',
        load: async () => (await import('../commands/provider-keys.ts')).checkProviderKeyCommand,
      },
    },
  },
  vault: {
    summary: 'What seals provider keys.',
    alone: 'status',
    verbs: {
      status: {
        summary: 'Show whether it is open, and where its master key is kept.',
        load: async () => (await import('../commands/vault.ts')).vaultStatusCommand,
      },
      unlock: {
        summary: 'Open it: by the keychain, a passphrase or an exported key.',
        load: async () => (await import('../commands/vault.ts')).unlockVaultCommand,
      },
      rotate: {
        summary: 'Put every secret under a new master key.',
        load: async () => (await import('../commands/vault.ts')).rotateVaultCommand,
      },
      export: {
        summary: 'Print the master key, to be kept on paper.',
        load: async () => (await import('../commands/vault.ts')).exportVaultCommand,
      },
    },
  },
};
