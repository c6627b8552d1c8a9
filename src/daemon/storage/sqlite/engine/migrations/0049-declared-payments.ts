import type { Migration } from '../migrate.ts';

const columns =
  'id, wallet_id, payment_hash, invoice, amount, fee_limit, fee, payee, description, host, backend, state, failure, created_at, expires_at, settled_at, budget, resolved_by';

/** A payment whose success was declared without a proof has no preimage; it had an empty one. */
export const declaredPayments: Migration = {
  version: 49,
  rows: {},
  statements: [
    `CREATE TABLE new_payments (
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
      preimage TEXT CHECK (
        CASE WHEN state <> 'succeeded' THEN preimage IS NULL ELSE preimage IS NOT '' AND (preimage IS NOT NULL OR resolved_by IS NOT NULL) END
      ),
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      settled_at INTEGER CHECK ((settled_at IS NULL) = (state = 'pending')),
      budget TEXT,
      resolved_by TEXT CHECK (resolved_by IS NULL OR state <> 'pending')
    ) STRICT, WITHOUT ROWID`,
    `INSERT INTO new_payments (${columns}, preimage) SELECT ${columns}, nullif(preimage, '') FROM payments`,
    'DROP TABLE payments',
    'ALTER TABLE new_payments RENAME TO payments',
    `CREATE UNIQUE INDEX payments_once ON payments (payment_hash) WHERE state <> 'failed'`,
    'CREATE INDEX payments_by_wallet ON payments (wallet_id, id)',
    `CREATE INDEX payments_pending ON payments (id) WHERE state = 'pending'`,
    `CREATE INDEX payments_by_budget ON payments (wallet_id, budget, created_at) WHERE budget IS NOT NULL`,
  ],
};
