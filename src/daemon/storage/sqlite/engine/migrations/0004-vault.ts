import type { Migration } from '../migrate.ts';

/**
 * A secret is sealed by a key of its own, and that key by the master: a rotation rewrites only the wrapped keys. Whoever
 * seals writes under the current master alone, so that no secret is left behind under one that is being given up.
 */
export const vault: Migration = {
  version: 4,
  rows: {},
  statements: [
    `CREATE TABLE vault_masters (
      kid TEXT PRIMARY KEY,
      store TEXT NOT NULL CHECK (store IN ('file', 'keychain', 'passphrase', 'plain')),
      proof TEXT NOT NULL,
      wrapped TEXT CHECK ((wrapped IS NOT NULL) = (store = 'passphrase')),
      state TEXT NOT NULL CHECK (state IN ('current', 'retired')),
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    "CREATE UNIQUE INDEX vault_current_master ON vault_masters (state) WHERE state = 'current'",
    `CREATE TABLE vault_secrets (
      name TEXT PRIMARY KEY,
      version INTEGER NOT NULL CHECK (version > 0),
      kid TEXT NOT NULL REFERENCES vault_masters (kid) ON DELETE RESTRICT,
      wrapped_key TEXT NOT NULL,
      sealed TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX vault_secrets_by_master ON vault_secrets (kid)',
    `CREATE TABLE provider_keys (
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      provider TEXT NOT NULL,
      secret TEXT NOT NULL UNIQUE REFERENCES vault_secrets (name) ON DELETE RESTRICT,
      fingerprint TEXT NOT NULL,
      added_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      PRIMARY KEY (workspace_id, provider)
    ) STRICT, WITHOUT ROWID`,
  ],
};
