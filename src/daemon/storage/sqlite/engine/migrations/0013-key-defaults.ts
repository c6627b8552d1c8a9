import type { Migration } from '../migrate.ts';

/** What holds for a key's calls that do not say. */
export const keyDefaults: Migration = {
  version: 13,
  rows: {},
  statements: ['ALTER TABLE keys ADD COLUMN defaults TEXT'],
};
