import type { Migration } from '../migrate.ts';

/** How much of the content of calls a workspace lets the host keep; null where the host decides. */
export const captureLevels: Migration = {
  version: 53,
  rows: {},
  statements: [
    "ALTER TABLE workspaces ADD COLUMN capture TEXT CHECK (capture IN ('off', 'memory', 'disk'))",
    'CREATE INDEX workspaces_by_capture ON workspaces (id, capture) WHERE capture IS NOT NULL',
  ],
};
