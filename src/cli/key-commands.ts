import type { Noun, Verb } from './verb.ts';

/** What is about API keys, in the order of the help. */
export const keyCommands: Record<string, Verb | Noun> = {
  keys: {
    summary: 'API keys.',
    verbs: {
      issue: {
        summary: 'Issue an API key.',
        load: async () => (await import('./commands/keys/issue.ts')).issueKeyCommand,
      },
      list: {
        summary: 'List the keys of a workspace, without secrets.',
        load: async () => (await import('./commands/keys/list.ts')).listKeysCommand,
      },
      show: {
        summary: 'Show one key, and what of its limits is used up.',
        load: async () => (await import('./commands/keys/show.ts')).showKeyCommand,
      },
      limits: {
        summary: 'Get or set what a key is limited to.',
        load: async () => (await import('./commands/keys/limits.ts')).limitsCommand,
      },
      defaults: {
        summary: 'Set what holds for a key’s calls that do not say.',
        load: async () => (await import('./commands/keys/defaults.ts')).keyDefaultsCommand,
      },
      revoke: {
        summary: 'Revoke a key; it takes effect now.',
        load: async () => (await import('./commands/keys/revoke.ts')).revokeKeyCommand,
      },
      default: {
        summary: 'Print the key that the first start issued.',
        load: async () => (await import('./commands/keys/default.ts')).defaultKeyCommand,
      },
    },
  },
  key: {
    summary: 'Show the calling key: what it may do and what it spent.',
    load: async () => (await import('./commands/key.ts')).keyCommand,
  },
};

/** What is about money. */
export const moneyCommands: Record<string, Verb | Noun> = {
  credit: {
    summary: 'What workspaces were granted and have left.',
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show balances.',
        load: async () => (await import('./commands/credit/show.ts')).showCreditCommand,
      },
      grant: {
        summary: 'Grant credit to a workspace.',
        load: async () => (await import('./commands/credit/grant.ts')).grantCreditCommand,
      },
    },
  },
  ledger: {
    summary: 'The books.',
    verbs: {
      verify: {
        summary: 'Check whether the books add up.',
        load: async () => (await import('./commands/ledger/verify.ts')).verifyLedgerCommand,
      },
    },
  },
};
