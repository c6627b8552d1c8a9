import type { Migration } from '../migrate.ts';

/** Adds the time of last use of logins. */
export const loginUses: Migration = {
  version: 15,
  rows: {},
  statements: ['ALTER TABLE logins ADD COLUMN last_used_at INTEGER'],
};
