import type { Migration } from '../migrate.ts';

/** Adds the budget that a payment counts against, such as that of tools. */
export const paymentBudgets: Migration = {
  version: 22,
  rows: {},
  statements: [
    'ALTER TABLE payments ADD COLUMN budget TEXT',
    'CREATE INDEX payments_by_budget ON payments (wallet_id, budget, created_at) WHERE budget IS NOT NULL',
  ],
};
