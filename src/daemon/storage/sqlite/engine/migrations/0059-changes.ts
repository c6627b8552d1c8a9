import type { Migration } from '../migrate.ts';

/** What writes of a daemon have changed of what others keep in memory; with SQLite, which has one daemon, it stays empty. */
export const changes: Migration = {
  version: 59,
  rows: {},
  statements: [
    `CREATE TABLE changes (
      number INTEGER PRIMARY KEY,
      daemon INTEGER NOT NULL,
      changes TEXT NOT NULL,
      at INTEGER NOT NULL
    ) STRICT`,
  ],
};
