import type { Migration } from '../migrate.ts';

/**
 * Wallets, their invoices and payments. Amounts are millisatoshis. Their money is in the ledger's accounts whose names
 * start with `msat:`; preimages are sealed.
 */
export const wallets: Migration = {
  version: 16,
  rows: {},
  statements: [
    `CREATE TABLE wallets (
      id TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      node_id TEXT NOT NULL,
      secret TEXT NOT NULL UNIQUE REFERENCES vault_secrets (name) ON DELETE RESTRICT,
      created_at INTEGER NOT NULL,
      replaced_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    'CREATE UNIQUE INDEX wallets_in_use ON wallets (owner_id) WHERE replaced_at IS NULL',
    'CREATE UNIQUE INDEX wallets_by_node ON wallets (node_id) WHERE replaced_at IS NULL',
    `CREATE TABLE wallet_deposits (
      id TEXT PRIMARY KEY,
      wallet_id TEXT NOT NULL REFERENCES wallets (id) ON DELETE RESTRICT,
      amount INTEGER NOT NULL CHECK (amount > 0),
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE invoices (
      id TEXT PRIMARY KEY,
      wallet_id TEXT NOT NULL REFERENCES wallets (id) ON DELETE RESTRICT,
      payment_hash TEXT NOT NULL UNIQUE,
      invoice TEXT NOT NULL,
      amount INTEGER NOT NULL CHECK (amount > 0),
      description TEXT NOT NULL,
      backend TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('open', 'paid')),
      received INTEGER CHECK (received > 0 AND (received IS NULL) = (state = 'open')),
      preimage TEXT,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      paid_at INTEGER CHECK ((paid_at IS NULL) = (state = 'open'))
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX invoices_by_wallet ON invoices (wallet_id, id)',
    "CREATE INDEX invoices_open ON invoices (backend, expires_at) WHERE state = 'open'",
    `CREATE TABLE payments (
      id TEXT PRIMARY KEY,
      wallet_id TEXT NOT NULL REFERENCES wallets (id) ON DELETE RESTRICT,
      payment_hash TEXT NOT NULL,
      invoice TEXT NOT NULL,
      amount INTEGER NOT NULL CHECK (amount > 0),
      fee_limit INTEGER NOT NULL CHECK (fee_limit >= 0),
      fee INTEGER CHECK (fee >= 0 AND (fee IS NOT NULL) = (state = 'succeeded')),
      payee TEXT NOT NULL,
      description TEXT,
      host TEXT,
      backend TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
      failure TEXT CHECK ((failure IS NOT NULL) = (state = 'failed')),
      preimage TEXT CHECK ((preimage IS NOT NULL) = (state = 'succeeded')),
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      settled_at INTEGER CHECK ((settled_at IS NULL) = (state = 'pending'))
    ) STRICT, WITHOUT ROWID`,
    // An invoice is paid at most once, whatever the wallet.
    "CREATE UNIQUE INDEX payments_once ON payments (payment_hash) WHERE state <> 'failed'",
    'CREATE INDEX payments_by_wallet ON payments (wallet_id, id)',
    "CREATE INDEX payments_pending ON payments (id) WHERE state = 'pending'",
    // A second line of defence: the conditions of the writes keep balances from becoming negative.
    `CREATE TRIGGER wallets_not_overdrawn BEFORE UPDATE ON accounts
      WHEN NEW.balance < 0 AND (NEW.id GLOB 'msat:wallet:*' OR NEW.id = 'msat:in-flight')
      BEGIN SELECT RAISE(ABORT, 'a wallet would be overdrawn'); END`,
  ],
};
