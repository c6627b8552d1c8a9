import type { Migration } from '../migrate.ts';

/** A workspace's list of stored responses does not read those of others. */
export const responsesByWorkspace: Migration = {
  version: 26,
  rows: {},
  statements: ['CREATE INDEX responses_by_workspace ON responses (workspace_id, id)'],
};
