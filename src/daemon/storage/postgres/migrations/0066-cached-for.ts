import type { Migration } from '../migrate.ts';

/** Cached answers name their call, so that they can be deleted with it. */
export const cachedFor: Migration = {
  version: 66,
  statements: ['ALTER TABLE cached_answers ADD COLUMN request_id text COLLATE "C"'],
};
