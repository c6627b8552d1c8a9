import type { Migration } from '../migrate.ts';

/**
 * Invoices that were settled within the host although their back end cannot cancel them: until they lapse, what it receives
 * for them is credited, too.
 */
export const lateReceipts: Migration = {
  version: 33,
  rows: {},
  statements: [
    `ALTER TABLE invoices ADD COLUMN still_payable INTEGER
      CHECK (still_payable IS NULL OR (still_payable = 1 AND state = 'paid'))`,
    'DROP INDEX invoices_open',
    `CREATE INDEX invoices_open ON invoices (backend, id)
      WHERE lapsed_at IS NULL AND (state = 'open' OR still_payable = 1)`,
  ],
};
