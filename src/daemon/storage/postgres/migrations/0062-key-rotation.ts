import type { Migration } from '../migrate.ts';

/** Keys can be paused, and get a new secret while the previous one still works for a while. */
export const keyRotation: Migration = {
  version: 62,
  statements: [
    'ALTER TABLE keys ADD COLUMN rotated_at bigint',
    'ALTER TABLE keys ADD COLUMN paused_at bigint',
    `CREATE TABLE previous_secrets (
      digest text COLLATE "C" PRIMARY KEY,
      key_id text COLLATE "C" NOT NULL REFERENCES keys (id) ON DELETE RESTRICT,
      workspace_id text COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      hint text COLLATE "C" NOT NULL,
      replaced_at bigint NOT NULL,
      ends_at bigint NOT NULL,
      last_used_at bigint
    )`,
    'CREATE INDEX previous_secrets_by_key ON previous_secrets (key_id, replaced_at)',
  ],
};
