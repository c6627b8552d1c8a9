import type { Migration } from '../migrate.ts';

/** The latest time at which a paid token is known to have been checked, so that a clock set back revives no expiry. */
export const tokensSeen: Migration = {
  version: 42,
  rows: {},
  statements: ['ALTER TABLE paywall_challenges ADD COLUMN seen_at INTEGER'],
};
