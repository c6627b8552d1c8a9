import type { Migration } from '../migrate.ts';

/**
 * Invoices that turn into credit: for one call, whose method, path and body they are bound to, or bought in advance.
 * `amount` is millisatoshis, `credit` and `rate` are nano-dollars.
 */
export const paymentChallenges: Migration = {
  version: 27,
  rows: {},
  statements: [
    `CREATE TABLE payment_challenges (
      id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      credential_id TEXT NOT NULL,
      method TEXT,
      path TEXT,
      digest TEXT CHECK ((digest IS NULL) = (method IS NULL) AND (digest IS NULL) = (path IS NULL)),
      invoice_id TEXT NOT NULL UNIQUE REFERENCES invoices (id) ON DELETE RESTRICT,
      invoice TEXT NOT NULL UNIQUE,
      payment_hash TEXT NOT NULL UNIQUE,
      network TEXT NOT NULL,
      request_hash TEXT,
      payee TEXT CHECK ((payee IS NULL) = (request_hash IS NULL)),
      amount INTEGER NOT NULL CHECK (amount > 0),
      credit INTEGER NOT NULL CHECK (credit > 0),
      rate INTEGER NOT NULL CHECK (rate > 0),
      rate_source TEXT NOT NULL,
      rate_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX payment_challenges_open ON payment_challenges (credential_id, digest, expires_at)
      WHERE used_at IS NULL`,
    'CREATE INDEX payment_challenges_by_expiry ON payment_challenges (expires_at) WHERE used_at IS NULL',
  ],
};
