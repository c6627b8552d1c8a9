import type { Migration } from '../migrate.ts';

/** Until when a daemon has the database, in milliseconds since 1970 by the clock of the server. */
export const daemonTerms: Migration = {
  version: 56,
  statements: ['ALTER TABLE daemons ADD COLUMN expires_at bigint'],
};
