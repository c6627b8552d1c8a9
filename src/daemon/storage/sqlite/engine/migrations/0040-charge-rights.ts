import type { Migration } from '../migrate.ts';

/** What a payment by the `Payment` scheme allows is kept as it was sold. */
export const chargeRights: Migration = {
  version: 40,
  rows: {},
  statements: ['ALTER TABLE paywall_challenges ADD COLUMN rights TEXT'],
};
