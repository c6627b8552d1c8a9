import type { SealedSecret } from '../../../features/vault/store.ts';
import type { NewInvoice, WalletRecord, WalletStore } from '../../../features/wallet/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, gt, isNull, type Orm, sql } from '../engine/orm.ts';
import { faucetAccount, lightningAccount, walletAccount } from '../ledger/accounts.ts';
import type { BatchTotals } from '../ledger/batch-totals.ts';
import { vaultSecrets } from '../vault/tables.ts';
import { isCurrentMaster } from '../vault/writes.ts';
import { walletBooking } from './booking.ts';
import { paymentWrites } from './payment-writes.ts';
import { invoices, payments, walletDeposits, wallets } from './tables.ts';

export function walletWrites(database: Connection, orm: Orm, totals: BatchTotals) {
  const booking = walletBooking(database, orm, totals);
  const { available, book, invoicePaid } = booking;
  return {
    'wallets.create': ({
      wallet,
      secret,
      replaces,
    }: NewWallet): Awaited<ReturnType<WalletStore['create']>> => {
      if (!isCurrentMaster(orm, secret.kid)) return 'stale';
      const isCurrent = and(eq(wallets.ownerId, wallet.ownerId), isNull(wallets.replacedAt));
      const current = orm.select().from(wallets).where(isCurrent).get();
      if (current?.id !== replaces) return 'stale';
      const sameNode = and(eq(wallets.nodeId, wallet.nodeId), isNull(wallets.replacedAt));
      if (orm.select().from(wallets).where(sameNode).get()) return 'other-owner';
      if (current) {
        if (available(current.id) !== 0 || isAwaited(orm, current.id, wallet.createdAt)) return 'in-use';
        orm.update(wallets).set({ replacedAt: wallet.createdAt }).where(eq(wallets.id, current.id)).run();
      }
      orm.insert(vaultSecrets).values(secret).run();
      orm
        .insert(wallets)
        .values({ ...wallet, secret: secret.name })
        .run();
      return 'created';
    },

    'wallets.deposit': ({ max, at: createdAt, ...deposit }: Deposit): boolean => {
      const { id, walletId, amount } = deposit;
      if (available(walletId) + amount > max) return false;
      orm
        .insert(walletDeposits)
        .values({ ...deposit, createdAt })
        .run();
      const move = { debit: faucetAccount, credit: walletAccount(walletId), amount };
      book(id, createdAt, [{ kind: 'deposit', ...move }], []);
      return true;
    },

    'invoices.insert': (invoice: NewInvoice): void => {
      orm
        .insert(invoices)
        .values({ ...invoice, state: 'open' })
        .run();
    },

    'invoices.receive': ({ id, received, at }: Parameters<WalletStore['receive']>[0]) => {
      const [invoice] = orm
        .update(invoices)
        .set({ state: 'paid', received, paidAt: at })
        .where(and(eq(invoices.id, id), eq(invoices.state, 'open')))
        .returning()
        .all();
      if (!invoice) return undefined;
      const credit = walletAccount(invoice.walletId);
      const move = { debit: lightningAccount, credit, amount: received };
      book(id, at, [{ kind: 'receipt', ...move }], [invoicePaid(invoice, at)]);
      const { preimage: _preimage, ...record } = invoice;
      return record;
    },

    ...paymentWrites(orm, booking),
  };
}

type NewWallet = { wallet: WalletRecord; secret: SealedSecret; replaces: string | undefined };
type Deposit = Parameters<WalletStore['deposit']>[0];

/** Whether a wallet has pending payments, or open invoices that can still be paid. */
function isAwaited(orm: Orm, walletId: string, at: number): boolean {
  const isOpen = and(eq(invoices.walletId, walletId), eq(invoices.state, 'open'), gt(invoices.expiresAt, at));
  const isPending = and(eq(payments.walletId, walletId), eq(payments.state, 'pending'));
  return (
    orm.select({ one: sql`1` }).from(invoices).where(isOpen).limit(1).get() !== undefined ||
    orm.select({ one: sql`1` }).from(payments).where(isPending).limit(1).get() !== undefined
  );
}
