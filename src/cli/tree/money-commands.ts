import type { Noun, Verb } from './verb.ts';

/** What was granted, and the books. */
export const moneyCommands: Record<string, Verb | Noun> = {
  credit: {
    summary: 'What workspaces were granted and have left.',
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show balances.',
        load: async () => (await import('../commands/credit.ts')).showCreditCommand,
      },
      grant: {
        summary: 'Grant credit to a workspace.',
        load: async () => (await import('../commands/credit.ts')).grantCreditCommand,
      },
    },
  },
  ledger: {
    summary: 'The books.',
    verbs: {
      verify: {
        summary: 'Check whether the books add up.',
        load: async () => (await import('../commands/ledger.ts')).verifyLedgerCommand,
      },
    },
  },
};
