import type { Migration } from '../migrate.ts';

/** Answers that are given again to the same request of the same workspace. */
export const cache: Migration = {
  version: 8,
  rows: {},
  statements: [
    `CREATE TABLE cached_answers (
      workspace_id TEXT NOT NULL,
      digest TEXT NOT NULL,
      model TEXT NOT NULL,
      provider_model TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      used_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      bytes INTEGER NOT NULL CHECK (bytes >= 0),
      events TEXT NOT NULL,
      PRIMARY KEY (workspace_id, digest)
    ) STRICT`,
    'CREATE INDEX cached_answers_by_expiry ON cached_answers (expires_at)',
    'CREATE INDEX cached_answers_by_use ON cached_answers (used_at, bytes)',
  ],
};
