import type { Migration } from '../migrate.ts';

/** What keys are held to, and credit that was granted to workspaces. A grant's ledger entry bears the grant's id. */
export const limitsAndCredit: Migration = {
  version: 2,
  rows: {},
  statements: [
    'ALTER TABLE keys ADD COLUMN models TEXT',
    'ALTER TABLE keys ADD COLUMN actions TEXT',
    'ALTER TABLE keys ADD COLUMN limits TEXT',
    `CREATE TABLE credit_grants (
      id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      amount INTEGER NOT NULL CHECK (amount > 0),
      note TEXT,
      reference TEXT UNIQUE,
      granted_by TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX credit_grants_by_workspace ON credit_grants (workspace_id, id)',
    `CREATE TRIGGER credit_grants_stay BEFORE UPDATE ON credit_grants
      BEGIN SELECT RAISE(ABORT, 'grants of credit are never changed'); END`,
    `CREATE TRIGGER credit_grants_last BEFORE DELETE ON credit_grants
      BEGIN SELECT RAISE(ABORT, 'grants of credit are never deleted'); END`,
  ],
};
