import type { Migration } from '../migrate.ts';

/** Servers that answer decisions for a workspace, and the calls to them. Times are milliseconds. */
export const peers: Migration = {
  version: 29,
  rows: {},
  statements: [
    `CREATE TABLE peers (
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      name TEXT NOT NULL,
      url TEXT NOT NULL,
      secret TEXT,
      key_fingerprint TEXT CHECK ((key_fingerprint IS NULL) = (secret IS NULL)),
      allowed_models TEXT,
      max_in_flight INTEGER NOT NULL CHECK (max_in_flight > 0),
      enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      insecure_http INTEGER NOT NULL CHECK (insecure_http IN (0, 1)),
      may_be_private INTEGER NOT NULL CHECK (may_be_private IN (0, 1)),
      added_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      answered INTEGER NOT NULL,
      failed INTEGER NOT NULL,
      latency_ms REAL,
      last_seen_at INTEGER,
      benches INTEGER NOT NULL,
      benched_until INTEGER,
      reason TEXT,
      PRIMARY KEY (workspace_id, name)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE peer_attempts (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE RESTRICT,
      peer TEXT NOT NULL,
      request_id TEXT NOT NULL,
      outcome TEXT NOT NULL,
      code INTEGER,
      hedged INTEGER NOT NULL CHECK (hedged IN (0, 1)),
      ms REAL NOT NULL,
      at INTEGER NOT NULL
    ) STRICT`,
    'CREATE INDEX peer_attempts_by_workspace ON peer_attempts (workspace_id, id)',
  ],
};
