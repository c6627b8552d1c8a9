import type { Migration } from '../migrate.ts';

/** Paywalls, the payments they asked for, and free requests. Root keys of tokens are derived, not stored. */
export const paywalls: Migration = {
  version: 25,
  rows: {},
  statements: [
    `CREATE TABLE paywalls (
      id TEXT PRIMARY KEY,
      owner_id TEXT NOT NULL,
      owner INTEGER NOT NULL,
      name TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('active', 'paused', 'deleted')),
      host TEXT,
      path_prefix TEXT NOT NULL,
      methods TEXT NOT NULL,
      upstream TEXT NOT NULL,
      headers TEXT,
      may_be_private INTEGER NOT NULL,
      price_sats INTEGER NOT NULL CHECK (price_sats > 0),
      auth_scheme TEXT NOT NULL,
      token TEXT NOT NULL,
      free_paths TEXT NOT NULL,
      free_requests_per_day INTEGER NOT NULL,
      rate_limit TEXT,
      revision INTEGER NOT NULL UNIQUE,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      deleted_at INTEGER CHECK ((deleted_at IS NOT NULL) = (status = 'deleted')),
      challenges INTEGER NOT NULL DEFAULT 0,
      paid INTEGER NOT NULL DEFAULT 0,
      revenue INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID`,
    "CREATE UNIQUE INDEX paywalls_by_name ON paywalls (owner, name) WHERE status <> 'deleted'",
    'CREATE INDEX paywalls_by_owner ON paywalls (owner, id)',
    "CREATE INDEX paywalls_serving ON paywalls (path_prefix) WHERE status <> 'deleted'",
    `CREATE TABLE paywall_challenges (
      id TEXT PRIMARY KEY,
      paywall_id TEXT NOT NULL REFERENCES paywalls (id) ON DELETE RESTRICT,
      invoice_id TEXT NOT NULL UNIQUE,
      payment_hash TEXT NOT NULL UNIQUE,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      uses INTEGER NOT NULL DEFAULT 0 CHECK (uses >= 0)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX paywall_challenges_by_expiry ON paywall_challenges (expires_at)',
    `CREATE TABLE paywall_free_uses (
      day TEXT NOT NULL,
      paywall_id TEXT NOT NULL,
      client TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (day, paywall_id, client)
    ) STRICT, WITHOUT ROWID`,
    // Counted in the transaction that marks the invoice as paid, whichever way the money came.
    `CREATE TRIGGER paywalls_paid AFTER UPDATE OF state ON invoices
      WHEN NEW.state = 'paid' AND OLD.state = 'open'
      BEGIN
        UPDATE paywalls SET paid = paid + 1, revenue = revenue + NEW.received
          WHERE id = (SELECT paywall_id FROM paywall_challenges WHERE invoice_id = NEW.id);
      END`,
  ],
};
