import type { Migration } from '../migrate.ts';

const owned = [
  'holds',
  'idempotency_keys',
  'background_responses',
  'thread_runs',
  'autopilot_occurrences',
  'payments',
];

/** What is unfinished belongs to the daemon that started it. What was stored before belongs to number 0, which is gone. */
export const daemons: Migration = {
  version: 50,
  rows: { daemons: 1 },
  statements: [
    `CREATE TABLE daemons (
      number INTEGER PRIMARY KEY,
      started_at INTEGER NOT NULL,
      successor INTEGER CHECK (successor > number)
    ) STRICT`,
    'INSERT INTO daemons (number, started_at) VALUES (0, 0)',
    ...owned.map((table) => `ALTER TABLE ${table} ADD COLUMN daemon INTEGER NOT NULL DEFAULT 0`),
  ],
};
