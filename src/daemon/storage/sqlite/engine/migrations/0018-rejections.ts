import type { Migration } from '../migrate.ts';

/** The calls that were rejected before any provider was asked. */
export const rejections: Migration = {
  version: 18,
  rows: {},
  statements: [
    `CREATE TABLE rejections (
      request_id TEXT PRIMARY KEY,
      workspace_id TEXT NOT NULL,
      key_id TEXT,
      address TEXT,
      endpoint TEXT NOT NULL,
      model TEXT,
      streamed INTEGER NOT NULL CHECK (streamed IN (0, 1)),
      http_status INTEGER,
      error_code TEXT NOT NULL,
      param TEXT,
      message TEXT NOT NULL,
      total_ms INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      completed_at INTEGER NOT NULL,
      more INTEGER NOT NULL CHECK (more >= 0)
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX rejections_by_end ON rejections (workspace_id, completed_at, request_id)',
  ],
};
