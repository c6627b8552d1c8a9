import type { Migration } from '../migrate.ts';

/** Counts of the rejected calls whose records made room for newer ones, by quarter of an hour; an empty text stands for none. */
export const rejectionTotals: Migration = {
  version: 61,
  rows: {},
  statements: [
    `CREATE TABLE rejection_totals (
      workspace_id TEXT NOT NULL,
      slot INTEGER NOT NULL,
      error_code TEXT NOT NULL,
      key_id TEXT NOT NULL,
      model TEXT NOT NULL,
      client TEXT NOT NULL,
      calls INTEGER NOT NULL CHECK (calls > 0),
      PRIMARY KEY (workspace_id, slot, error_code, key_id, model, client)
    ) STRICT, WITHOUT ROWID`,
  ],
};
