import type { LedgerEntry } from '../../../../features/metering/store.ts';
import { integer, primaryKey, sqliteTable, text } from '../../engine/orm.ts';

/** Amounts are nano-dollars, times milliseconds since 1970. */
export const accounts = sqliteTable('accounts', {
  id: text().primaryKey(),
  balance: integer().notNull(),
});

/** The balances as of one link of the ledger chain. */
export const accountCheckpoints = sqliteTable('account_checkpoints', {
  id: text().primaryKey(),
  balance: integer().notNull(),
});

/** Triggers prevent changes and deletions. */
export const entries = sqliteTable(
  'entries',
  {
    requestId: text().notNull(),
    kind: text().$type<LedgerEntry['kind']>().notNull(),
    debit: text().notNull(),
    credit: text().notNull(),
    amount: integer().notNull(),
    createdAt: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.requestId, table.kind] })],
);

/** Columns of a `GrantRecord`. Triggers prevent changes and deletions. */
export const creditGrants = sqliteTable('credit_grants', {
  id: text().primaryKey(),
  workspaceId: text().notNull(),
  amount: integer().notNull(),
  note: text(),
  reference: text(),
  grantedBy: text().notNull(),
  createdAt: integer().notNull(),
});
