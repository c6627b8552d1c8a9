import type { Challenge } from '../../../features/payment-required/store.ts';
import { integer, sqliteTable, text } from '../engine/orm.ts';

/** The columns of a `Challenge`. */
export const paymentChallenges = sqliteTable('payment_challenges', {
  id: text().primaryKey(),
  workspaceId: text().notNull(),
  credentialId: text().notNull(),
  method: text(),
  path: text(),
  digest: text(),
  invoiceId: text().notNull(),
  invoice: text().notNull(),
  paymentHash: text().notNull(),
  network: text().$type<Challenge['network']>().notNull(),
  requestHash: text(),
  payee: text(),
  amount: integer().notNull(),
  credit: integer().notNull(),
  rate: integer().notNull(),
  rateSource: text().notNull(),
  rateAt: integer().notNull(),
  createdAt: integer().notNull(),
  expiresAt: integer().notNull(),
  usedAt: integer(),
});
