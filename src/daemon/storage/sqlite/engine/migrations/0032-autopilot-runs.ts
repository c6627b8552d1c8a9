import type { Migration } from '../migrate.ts';

/** Runs of autopilots, and threads that are addressed to one. Fields of autopilots without an effect are removed. */
export const autopilotRuns: Migration = {
  version: 32,
  rows: {},
  statements: [
    'ALTER TABLE threads ADD COLUMN autopilot_id TEXT',
    'ALTER TABLE thread_runs ADD COLUMN autopilot_id TEXT',
    'ALTER TABLE thread_runs ADD COLUMN autopilot_config_version INTEGER',
    `CREATE INDEX thread_runs_by_autopilot ON thread_runs (autopilot_id, id)
      WHERE autopilot_id IS NOT NULL`,
    `UPDATE autopilots SET policy = json_remove(policy, '$.dataPolicy'),
      profile = json_remove(profile, '$.schemaVersion')`,
  ],
};
