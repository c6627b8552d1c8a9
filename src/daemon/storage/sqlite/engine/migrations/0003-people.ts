import type { Migration } from '../migrate.ts';

/** People beside the owner: codes that let them in, invitations to workspaces, and what members may do there. */
export const people: Migration = {
  version: 3,
  rows: {},
  statements: [
    `ALTER TABLE workspaces ADD COLUMN members_may_issue_keys INTEGER NOT NULL DEFAULT 0
      CHECK (members_may_issue_keys IN (0, 1))`,
    `CREATE TABLE login_codes (
      digest TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      used_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX login_codes_by_expiry ON login_codes (expires_at)',
    `CREATE TABLE invitations (
      id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      digest TEXT NOT NULL UNIQUE,
      role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
      note TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      accepted_by TEXT,
      accepted_at INTEGER CHECK ((accepted_at IS NULL) = (accepted_by IS NULL)),
      revoked_at INTEGER
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX invitations_by_workspace ON invitations (workspace_id, id)',
  ],
};
