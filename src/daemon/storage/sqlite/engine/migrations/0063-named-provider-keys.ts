import type { Migration } from '../migrate.ts';

/** A workspace can have several keys for a provider; the first one has no name. */
export const namedProviderKeys: Migration = {
  version: 63,
  rows: {},
  statements: [
    `CREATE TABLE new_provider_keys (
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      provider TEXT NOT NULL,
      name TEXT NOT NULL,
      secret TEXT NOT NULL UNIQUE REFERENCES vault_secrets (name) ON DELETE RESTRICT,
      fingerprint TEXT NOT NULL,
      added_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      PRIMARY KEY (workspace_id, provider, name)
    ) STRICT, WITHOUT ROWID`,
    `INSERT INTO new_provider_keys
     SELECT workspace_id, provider, '', secret, fingerprint, added_at, updated_at FROM provider_keys`,
    'DROP TABLE provider_keys',
    'ALTER TABLE new_provider_keys RENAME TO provider_keys',
  ],
};
