import type { Migration } from '../migrate.ts';

/** Finds the autopilots that their owners show to others. */
export const autopilotDirectory: Migration = {
  version: 47,
  rows: {},
  statements: ["CREATE INDEX autopilots_listed ON autopilots (status, id) WHERE visibility <> 'private'"],
};
