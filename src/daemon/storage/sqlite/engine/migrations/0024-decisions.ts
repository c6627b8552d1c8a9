import type { Migration } from '../migrate.ts';

/** Fitted temperatures of typed decisions, and what decisions cost the host per day. */
export const decisions: Migration = {
  version: 24,
  rows: {},
  statements: [
    `CREATE TABLE decision_calibrations (
      model TEXT NOT NULL,
      type TEXT NOT NULL,
      temperature REAL NOT NULL,
      examples INTEGER NOT NULL,
      nll_before REAL NOT NULL,
      nll_after REAL NOT NULL,
      fitted_at INTEGER NOT NULL,
      PRIMARY KEY (model, type)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE decision_days (
      day TEXT PRIMARY KEY,
      cost INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
  ],
};
