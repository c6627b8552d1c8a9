import type { NewInvoice, WalletBook, WalletStore } from '../../../features/wallet/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, type Orm, or, sql } from '../engine/orm.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { faucetAccount, lightningAccount, walletAccount } from '../metering/ledger/accounts.ts';
import { walletBooking } from './booking.ts';
import { paymentWrites } from './payment-writes.ts';
import { heldOfWallets } from './pending.ts';
import { isUnreconciled, reconciliationWrites } from './reconciliation-writes.ts';
import { invoices, walletDeposits, walletNodes, wallets } from './tables.ts';
import { walletCreation } from './wallet-creation.ts';

export function walletWrites(database: Connection, orm: Orm, totals: BatchTotals, daemon: number) {
  const booking = walletBooking(database, orm, totals);
  const { available, book, invoicePaid } = booking;
  const bookOf = (walletId: string): WalletBook => {
    const own = orm.select().from(wallets).where(eq(wallets.id, walletId)).get();
    if (!own) throw new Error('there is no such wallet');
    return own;
  };
  /** The sum of all balances at the same back end, pending payments included. */
  const owedBy = (walletId: string): number => {
    const own = bookOf(walletId);
    const isSameBook = and(eq(wallets.backend, own.backend), eq(wallets.network, own.network));
    const ids = orm.select({ id: wallets.id }).from(wallets).where(isSameBook).all();
    return ids.reduce((sum, { id }) => sum + available(id), heldOfWallets(orm, isSameBook));
  };

  return {
    'wallets.deposit': ({ max, at: createdAt, ...deposit }: Deposit): boolean => {
      const { id, walletId, amount } = deposit;
      if (available(walletId) + amount > max) return false;
      orm
        .insert(walletDeposits)
        .values({ ...deposit, createdAt, source: 'faucet' })
        .run();
      const move = { debit: faucetAccount, credit: walletAccount(walletId), amount };
      book(id, createdAt, [{ kind: 'deposit', ...move }], []);
      return true;
    },

    'wallets.fund': ({ held, at, ...deposit }: Funding): Awaited<ReturnType<WalletStore['fund']>> => {
      const { id, walletId, amount } = deposit;
      if (isUnreconciled(orm, bookOf(walletId))) return 'unreconciled';
      const unassigned = held - owedBy(walletId);
      if (unassigned < amount) return { unassigned: Math.max(unassigned, 0) };
      orm
        .insert(walletDeposits)
        .values({ ...deposit, createdAt: at, source: 'backend' })
        .run();
      const move = { debit: lightningAccount, credit: walletAccount(walletId), amount };
      book(id, at, [{ kind: 'deposit', ...move }], []);
      return 'funded';
    },

    'wallets.trustNode': ({ backend, network, nodeId, replaces, at: trustedAt }: TrustedNode): boolean => {
      const isSameBook = and(eq(walletNodes.backend, backend), eq(walletNodes.network, network));
      const current = orm.select().from(walletNodes).where(isSameBook).get();
      if (current?.nodeId !== replaces) return false;
      if (current) orm.update(walletNodes).set({ nodeId, trustedAt }).where(isSameBook).run();
      else orm.insert(walletNodes).values({ backend, network, nodeId, trustedAt }).run();
      return true;
    },

    'invoices.insert': (invoice: NewInvoice): void => {
      orm
        .insert(invoices)
        .values({ ...invoice, state: 'open' })
        .run();
    },

    'invoices.lapse': ({ id, at }: { id: string; at: number }): void => {
      orm
        .update(invoices)
        .set({ lapsedAt: at })
        .where(and(eq(invoices.id, id), or(eq(invoices.state, 'open'), eq(invoices.stillPayable, 1))))
        .run();
    },

    'invoices.receive': ({ id, received, at }: Parameters<WalletStore['receive']>[0]) => {
      // After a payment within the host, what was received comes on top.
      const total = sql<number>`coalesce(${invoices.received}, 0) + ${received}`;
      const [invoice] = orm
        .update(invoices)
        .set({ state: 'paid', received: total, paidAt: at, stillPayable: null })
        .where(and(eq(invoices.id, id), or(eq(invoices.state, 'open'), eq(invoices.stillPayable, 1))))
        .returning()
        .all();
      if (!invoice) return undefined;
      const credit = walletAccount(invoice.walletId);
      const move = { debit: lightningAccount, credit, amount: received };
      book(id, at, [{ kind: 'receipt', ...move }], [invoicePaid(invoice, at)]);
      const { preimage: _preimage, lapsedAt: _lapsedAt, stillPayable: _stillPayable, ...record } = invoice;
      return record;
    },

    ...walletCreation(orm, booking),
    ...paymentWrites(orm, booking, daemon),
    ...reconciliationWrites(orm, booking, daemon),
  };
}

type Deposit = Parameters<WalletStore['deposit']>[0];
type TrustedNode = Parameters<WalletStore['trustNode']>[0];
type Funding = Parameters<WalletStore['fund']>[0];

export type WalletWrites = ReturnType<typeof walletWrites>;
