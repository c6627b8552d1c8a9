import { grantCredit, listCredit, verifyLedger } from './endpoints.ts';
import type { CommandEntry, NounEntry } from './entry.ts';

/** Credit and the ledger. */
export const moneyCommands: Record<string, CommandEntry | NounEntry> = {
  credit: {
    summary: "View and grant workspaces' credit.",
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show balances.',
        endpoint: listCredit,
        lists: { alsoListsPaths: [grantCredit.path] },
        load: async () => (await import('../commands/credit.ts')).showCreditCommand,
      },
      grant: {
        summary: 'Grant credit to a workspace.',
        endpoint: grantCredit,
        load: async () => (await import('../commands/credit.ts')).grantCreditCommand,
      },
    },
  },
  ledger: {
    summary: 'Inspect and verify the ledger.',
    verbs: {
      verify: {
        summary: 'Check that the ledger balances.',
        endpoint: verifyLedger,
        load: async () => (await import('../commands/ledger.ts')).verifyLedgerCommand,
      },
    },
  },
};
