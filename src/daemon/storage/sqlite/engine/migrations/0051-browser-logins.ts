import type { Migration } from '../migrate.ts';

/** Logins of browsers, which end after some time without use. */
export const browserLogins: Migration = {
  version: 51,
  rows: {},
  statements: [
    `ALTER TABLE logins ADD COLUMN kind TEXT NOT NULL DEFAULT 'command' CHECK (kind IN ('command', 'browser'))`,
    'ALTER TABLE logins ADD COLUMN idle_ms INTEGER CHECK (idle_ms > 0)',
  ],
};
