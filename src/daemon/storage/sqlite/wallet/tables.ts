import type { LightningNetwork } from '../../../../shared/payments/wallet-backends.ts';
import type { InvoiceRecord, PaymentRecord } from '../../../features/wallet/store.ts';
import { columnsOf, integer, primaryKey, sql, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `WalletRecord`, and the name of its phrase in the vault. */
export const wallets = sqliteTable('wallets', {
  id: text().primaryKey(),
  ownerId: text().notNull(),
  workspaceId: text().notNull(),
  nodeId: text().notNull(),
  secret: text().notNull(),
  createdAt: integer().notNull(),
  /** Set when another wallet took its place. */
  replacedAt: integer(),
  backend: text().notNull(),
  network: text().$type<LightningNetwork>().notNull(),
});

/** Money that wallets were given: play money, or money of the back end. */
export const walletDeposits = sqliteTable('wallet_deposits', {
  id: text().primaryKey(),
  walletId: text().notNull(),
  amount: integer().notNull(),
  createdAt: integer().notNull(),
  source: text().$type<'faucet' | 'backend'>().notNull(),
});

/** Columns of an `InvoiceRecord`, and the sealed preimage where the host has it. */
export const invoices = sqliteTable('invoices', {
  id: text().primaryKey(),
  walletId: text().notNull(),
  paymentHash: text().notNull(),
  invoice: text().notNull(),
  amount: integer().notNull(),
  description: text().notNull(),
  backend: text().notNull(),
  state: text().$type<InvoiceRecord['state']>().notNull(),
  received: integer(),
  preimage: text(),
  createdAt: integer().notNull(),
  expiresAt: integer().notNull(),
  paidAt: integer(),
  lapsedAt: integer(),
  /** 1 if it was settled within the host, and its back end may still receive money for it. */
  stillPayable: integer(),
});

/** Columns of a `PaymentRecord`, and the daemon that follows the payment up. */
export const payments = sqliteTable('payments', {
  id: text().primaryKey(),
  walletId: text().notNull(),
  paymentHash: text().notNull(),
  invoice: text().notNull(),
  amount: integer().notNull(),
  feeLimit: integer().notNull(),
  fee: integer(),
  payee: text().notNull(),
  description: text(),
  host: text(),
  backend: text().notNull(),
  state: text().$type<PaymentRecord['state']>().notNull(),
  failure: text().$type<NonNullable<PaymentRecord['failure']>>(),
  preimage: text(),
  createdAt: integer().notNull(),
  expiresAt: integer().notNull(),
  settledAt: integer(),
  budget: text(),
  resolvedBy: text(),
  daemon: integer().notNull(),
});

const { daemon: _daemon, ...columns } = columnsOf(payments);
export const paymentColumns = columns;

/** A literal, as SQLite does not use a partial index for a bound value. */
export const hasNotFailed = sql`${payments.state} <> 'failed'`;

/** Columns of a `ReconciliationRecord`. */
export const walletReconciliations = sqliteTable(
  'wallet_reconciliations',
  {
    backend: text().notNull(),
    network: text().$type<LightningNetwork>().notNull(),
    since: integer().notNull(),
    openedAt: integer().notNull(),
    endedAt: integer(),
    acceptedBy: text(),
  },
  ({ backend, network }) => [primaryKey({ columns: [backend, network] })],
);

/** The node that holds the money of the wallets of a back end and network. */
export const walletNodes = sqliteTable(
  'wallet_nodes',
  {
    backend: text().notNull(),
    network: text().$type<LightningNetwork>().notNull(),
    nodeId: text().notNull(),
    trustedAt: integer().notNull(),
  },
  ({ backend, network }) => [primaryKey({ columns: [backend, network] })],
);
