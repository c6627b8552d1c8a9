import type { Migration } from '../migrate.ts';

/** Counts of the rejected calls whose records made room for newer ones, by quarter of an hour; an empty text stands for none. */
export const rejectionTotals: Migration = {
  version: 61,
  statements: [
    `CREATE TABLE rejection_totals (
      workspace_id text COLLATE "C" NOT NULL,
      slot bigint NOT NULL,
      error_code text COLLATE "C" NOT NULL,
      key_id text COLLATE "C" NOT NULL,
      model text COLLATE "C" NOT NULL,
      client text COLLATE "C" NOT NULL,
      calls bigint NOT NULL CHECK (calls > 0),
      PRIMARY KEY (workspace_id, slot, error_code, key_id, model, client)
    )`,
  ],
};
