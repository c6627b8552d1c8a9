import type { Migration } from '../migrate.ts';

/** What a finished call went through: which routes it had, when its money was set aside and when each was tried. */
export const traces: Migration = {
  version: 7,
  rows: {},
  statements: ['ALTER TABLE usage ADD COLUMN trace TEXT'],
};
