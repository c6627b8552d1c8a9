import type { Migration } from '../migrate.ts';

/**
 * Wallets belong to a back end and its network, as the money that they may spend is there. Invoices are looked up until
 * they lapse: they expired, and the back end said afterwards that nothing was received.
 */
export const walletBackends: Migration = {
  version: 21,
  rows: {},
  statements: [
    "ALTER TABLE wallets ADD COLUMN backend TEXT NOT NULL DEFAULT 'embedded'",
    "ALTER TABLE wallets ADD COLUMN network TEXT NOT NULL DEFAULT 'regtest'",
    'DROP INDEX wallets_in_use',
    'DROP INDEX wallets_by_node',
    'CREATE UNIQUE INDEX wallets_in_use ON wallets (owner_id, backend, network) WHERE replaced_at IS NULL',
    'CREATE UNIQUE INDEX wallets_by_node ON wallets (node_id, backend, network) WHERE replaced_at IS NULL',
    'ALTER TABLE invoices ADD COLUMN lapsed_at INTEGER',
    'DROP INDEX invoices_open',
    "CREATE INDEX invoices_open ON invoices (backend, id) WHERE state = 'open' AND lapsed_at IS NULL",
    // Deposits are play money, or money of the back end that its owner assigned to a wallet.
    "ALTER TABLE wallet_deposits ADD COLUMN source TEXT NOT NULL DEFAULT 'faucet' CHECK (source IN ('faucet', 'backend'))",
  ],
};
