import type { Migration } from '../migrate.ts';

/**
 * Finds a user's logins without those that were revoked, paywall challenges to delete without those that were used, and the
 * newest whisper of each thread without the others.
 */
export const boundedReads: Migration = {
  version: 39,
  rows: {},
  statements: [
    'CREATE INDEX logins_in_use ON logins (user_id, id) WHERE revoked_at IS NULL',
    'DROP INDEX paywall_challenges_by_expiry',
    'CREATE INDEX whispers_by_peer ON whispers (recipient, sender, id)',
    'CREATE INDEX paywall_challenges_unused ON paywall_challenges (expires_at) WHERE uses = 0',
  ],
};
