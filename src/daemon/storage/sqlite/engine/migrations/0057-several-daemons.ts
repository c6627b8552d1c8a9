import type { Migration } from '../migrate.ts';

/** Several daemons use a database of a server: any can take over the work of another. */
export const severalDaemons: Migration = {
  version: 57,
  rows: {},
  statements: [
    `CREATE TABLE next_daemons (
      number INTEGER PRIMARY KEY,
      started_at INTEGER NOT NULL,
      successor INTEGER CHECK (successor <> number),
      expires_at INTEGER,
      name TEXT,
      address TEXT,
      version TEXT,
      batches INTEGER NOT NULL DEFAULT 0
    ) STRICT`,
    `INSERT INTO next_daemons (number, started_at, successor, expires_at)
     SELECT number, started_at, successor, expires_at FROM daemons`,
    'DROP TABLE daemons',
    'ALTER TABLE next_daemons RENAME TO daemons',
  ],
};
