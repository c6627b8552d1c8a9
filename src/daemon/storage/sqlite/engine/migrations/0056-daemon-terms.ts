import type { Migration } from '../migrate.ts';

/** Until when a daemon has the database, by the clock of the server; NULL where a lock says so, as with SQLite. */
export const daemonTerms: Migration = {
  version: 56,
  rows: {},
  statements: ['ALTER TABLE daemons ADD COLUMN expires_at INTEGER'],
};
