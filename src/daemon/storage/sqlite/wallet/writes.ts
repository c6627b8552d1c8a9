import type { SealedSecret } from '../../../features/vault/store.ts';
import type { NewInvoice, WalletRecord, WalletStore } from '../../../features/wallet/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, gt, isNull, ne, type Orm, or, sql } from '../engine/orm.ts';
import { faucetAccount, lightningAccount, walletAccount } from '../metering/accounts.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { vaultSecrets } from '../vault/tables.ts';
import { isCurrentMaster } from '../vault/writes.ts';
import { walletBooking } from './booking.ts';
import { paymentWrites } from './payment-writes.ts';
import { heldOfWallets } from './pending.ts';
import { invoices, payments, walletDeposits, walletNodes, wallets } from './tables.ts';

export function walletWrites(database: Connection, orm: Orm, totals: BatchTotals) {
  const booking = walletBooking(database, orm, totals);
  const { available, book, invoicePaid } = booking;
  /** The sum of all balances at the same back end, pending payments included. */
  const owedBy = (walletId: string): number => {
    const own = orm.select().from(wallets).where(eq(wallets.id, walletId)).get();
    if (!own) throw new Error('there is no such wallet');
    const isSameBook = and(eq(wallets.backend, own.backend), eq(wallets.network, own.network));
    const ids = orm.select({ id: wallets.id }).from(wallets).where(isSameBook).all();
    return ids.reduce((sum, { id }) => sum + available(id), heldOfWallets(orm, isSameBook));
  };

  return {
    'wallets.create': ({
      wallet,
      secret,
      replaces,
    }: NewWallet): Awaited<ReturnType<WalletStore['create']>> => {
      if (!isCurrentMaster(orm, secret.kid)) return 'stale';
      const isSameBook = and(
        eq(wallets.backend, wallet.backend),
        eq(wallets.network, wallet.network),
        isNull(wallets.replacedAt),
      );
      const isCurrent = and(eq(wallets.ownerId, wallet.ownerId), isSameBook);
      const current = orm.select().from(wallets).where(isCurrent).get();
      if (current?.id !== replaces) return 'stale';
      const sameNode = and(eq(wallets.nodeId, wallet.nodeId), isSameBook);
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
        .values({ ...deposit, createdAt, source: 'faucet' })
        .run();
      const move = { debit: faucetAccount, credit: walletAccount(walletId), amount };
      book(id, createdAt, [{ kind: 'deposit', ...move }], []);
      return true;
    },

    'wallets.fund': ({ held, at, ...deposit }: Funding): 'funded' | { unassigned: number } => {
      const { id, walletId, amount } = deposit;
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

    ...paymentWrites(orm, booking),
  };
}

type NewWallet = { wallet: WalletRecord; secret: SealedSecret; replaces: string | undefined };
type Deposit = Parameters<WalletStore['deposit']>[0];
type TrustedNode = Parameters<WalletStore['trustNode']>[0];
type Funding = Parameters<WalletStore['fund']>[0];

/** Whether a wallet has pending payments, or open invoices that can still be paid. */
function isAwaited(orm: Orm, walletId: string, at: number): boolean {
  // A node may report what it received for an expired invoice only later.
  const canBePaid = or(
    gt(invoices.expiresAt, at),
    and(ne(invoices.backend, 'embedded'), isNull(invoices.lapsedAt)),
  );
  const isUnpaid = or(eq(invoices.state, 'open'), eq(invoices.stillPayable, 1));
  const isOpen = and(eq(invoices.walletId, walletId), isUnpaid, canBePaid);
  const isPending = and(eq(payments.walletId, walletId), eq(payments.state, 'pending'));
  return (
    orm.select({ one: sql`1` }).from(invoices).where(isOpen).limit(1).get() !== undefined ||
    orm.select({ one: sql`1` }).from(payments).where(isPending).limit(1).get() !== undefined
  );
}

export type WalletWrites = ReturnType<typeof walletWrites>;
