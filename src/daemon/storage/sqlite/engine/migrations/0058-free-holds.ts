import type { Migration } from '../migrate.ts';

/** What an agent's free call reserves of the free tier while it runs. */
export const freeHolds: Migration = {
  version: 58,
  rows: {},
  statements: ['ALTER TABLE holds ADD COLUMN free INTEGER CHECK (free >= 0)'],
};
