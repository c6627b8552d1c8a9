import type { Migration } from '../migrate.ts';

/** Daemons of a database share limits of concurrent calls. */
export const callSlots: Migration = {
  version: 64,
  rows: {},
  statements: [
    `CREATE TABLE call_slots (
      number INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      daemon INTEGER NOT NULL,
      is_due INTEGER NOT NULL
    ) STRICT`,
    'CREATE INDEX call_slots_by_name ON call_slots (name)',
    'CREATE INDEX call_slots_by_daemon ON call_slots (daemon)',
  ],
};
