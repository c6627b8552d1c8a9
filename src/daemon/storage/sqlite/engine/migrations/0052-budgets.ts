import type { Migration } from '../migrate.ts';

/** Budgets of workspaces, keys, users and tags, and which of their thresholds fired. */
export const budgets: Migration = {
  version: 52,
  rows: {},
  statements: [
    `CREATE TABLE budgets (
      workspace_id TEXT NOT NULL,
      id TEXT NOT NULL,
      scope TEXT NOT NULL,
      scope_value TEXT NOT NULL,
      period TEXT NOT NULL,
      amount INTEGER NOT NULL,
      is_hard INTEGER NOT NULL,
      thresholds TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      fired TEXT NOT NULL,
      PRIMARY KEY (workspace_id, id)
    ) STRICT, WITHOUT ROWID`,
  ],
};
