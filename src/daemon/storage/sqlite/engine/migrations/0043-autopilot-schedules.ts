import type { Migration } from '../migrate.ts';

/**
 * Autopilots run by a schedule, and what they spend on models is counted beside the spending of keys. `autopilot_occurrences` has
 * the times of schedules at which no run was started.
 */
export const autopilotSchedules: Migration = {
  version: 43,
  rows: {},
  statements: [
    'ALTER TABLE holds ADD COLUMN budget TEXT',
    'ALTER TABLE calls ADD COLUMN budget INTEGER',
    'CREATE INDEX calls_by_budget ON calls (budget) WHERE budget IS NOT NULL',
    'ALTER TABLE autopilots ADD COLUMN schedule TEXT',
    'ALTER TABLE autopilots ADD COLUMN scheduled_by TEXT',
    'ALTER TABLE autopilots ADD COLUMN next_run_at INTEGER',
    'CREATE INDEX autopilots_due ON autopilots (next_run_at) WHERE next_run_at IS NOT NULL',
    `CREATE TABLE autopilot_occurrences (
      id TEXT PRIMARY KEY,
      autopilot_id TEXT NOT NULL,
      workspace_id TEXT NOT NULL,
      status TEXT NOT NULL,
      due_at INTEGER NOT NULL,
      last_due_at INTEGER NOT NULL,
      count INTEGER NOT NULL,
      reason TEXT,
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    'CREATE INDEX autopilot_occurrences_by_autopilot ON autopilot_occurrences (autopilot_id, id)',
    "CREATE INDEX autopilot_occurrences_claimed ON autopilot_occurrences (status) WHERE status = 'claimed'",
  ],
};
