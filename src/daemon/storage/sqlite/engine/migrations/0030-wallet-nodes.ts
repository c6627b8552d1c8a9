import type { Migration } from '../migrate.ts';

/**
 * The node that holds the money of each back end's wallets, and who declared how a payment ended, where the node did not
 * tell. Such a payment may have succeeded without its proof: its preimage is then empty.
 */
export const walletNodes: Migration = {
  version: 30,
  rows: {},
  statements: [
    `CREATE TABLE wallet_nodes (
      backend TEXT NOT NULL,
      network TEXT NOT NULL,
      node_id TEXT NOT NULL,
      trusted_at INTEGER NOT NULL,
      PRIMARY KEY (backend, network)
    ) STRICT, WITHOUT ROWID`,
    "ALTER TABLE payments ADD COLUMN resolved_by TEXT CHECK (resolved_by IS NULL OR state <> 'pending')",
  ],
};
