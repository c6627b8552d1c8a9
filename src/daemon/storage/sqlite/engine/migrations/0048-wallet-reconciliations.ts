import type { Migration } from '../migrate.ts';

/**
 * Wallets that are to be compared with their node since an earlier time, as a backup of that time was restored. Until that has
 * ended, they pay nothing.
 */
export const walletReconciliations: Migration = {
  version: 48,
  rows: {},
  statements: [
    `CREATE TABLE wallet_reconciliations (
      backend TEXT NOT NULL,
      network TEXT NOT NULL,
      since INTEGER NOT NULL,
      opened_at INTEGER NOT NULL,
      ended_at INTEGER,
      accepted_by TEXT CHECK (accepted_by IS NULL OR ended_at IS NOT NULL),
      PRIMARY KEY (backend, network)
    ) STRICT, WITHOUT ROWID`,
  ],
};
