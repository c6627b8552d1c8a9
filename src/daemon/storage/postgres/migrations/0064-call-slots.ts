import type { Migration } from '../migrate.ts';

/** Daemons of a database share limits of concurrent calls. */
export const callSlots: Migration = {
  version: 64,
  statements: [
    `CREATE TABLE call_slots (
      number bigint PRIMARY KEY,
      name text COLLATE "C" NOT NULL,
      daemon bigint NOT NULL,
      is_due bigint NOT NULL
    )`,
    'CREATE INDEX call_slots_by_name ON call_slots (name)',
    'CREATE INDEX call_slots_by_daemon ON call_slots (daemon)',
  ],
};
