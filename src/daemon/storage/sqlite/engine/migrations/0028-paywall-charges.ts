import type { Migration } from '../migrate.ts';

/**
 * Payments that paywalls ask for by the `Payment` scheme: the id of each challenge and the request that it is for, as JSON.
 * Both are null for those that only L402 can prove.
 */
export const paywallCharges: Migration = {
  version: 28,
  rows: {},
  statements: [
    'ALTER TABLE paywall_challenges ADD COLUMN payment_id TEXT',
    'ALTER TABLE paywall_challenges ADD COLUMN request TEXT CHECK ((request IS NULL) = (payment_id IS NULL))',
    `CREATE UNIQUE INDEX paywall_challenges_by_payment ON paywall_challenges (payment_id)
      WHERE payment_id IS NOT NULL`,
  ],
};
