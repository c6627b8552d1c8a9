import type { Migration } from '../migrate.ts';

/** Keys can be paused, and get a new secret while the previous one still works for a while. */
export const keyRotation: Migration = {
  version: 62,
  rows: {},
  statements: [
    'ALTER TABLE keys ADD COLUMN rotated_at INTEGER',
    'ALTER TABLE keys ADD COLUMN paused_at INTEGER',
    `CREATE TABLE previous_secrets (
      digest TEXT PRIMARY KEY,
      key_id TEXT NOT NULL REFERENCES keys (id) ON DELETE RESTRICT,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      hint TEXT NOT NULL,
      replaced_at INTEGER NOT NULL,
      ends_at INTEGER NOT NULL,
      last_used_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX previous_secrets_by_key ON previous_secrets (key_id, replaced_at)',
  ],
};
