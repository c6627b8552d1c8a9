import type { Migration } from '../migrate.ts';

/** Finds what a workspace paid for without reading the payments of all. */
export const usedChallenges: Migration = {
  version: 38,
  rows: {},
  statements: [
    `CREATE INDEX payment_challenges_used ON payment_challenges (workspace_id, credit) WHERE used_at IS NOT NULL`,
  ],
};
