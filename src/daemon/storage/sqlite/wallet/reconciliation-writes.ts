import type {
  BookedPayment,
  BookedReceipt,
  BookedStates,
  MovesToBook,
  ReconciliationRecord,
  WalletBook,
} from '../../../features/wallet/store.ts';
import { and, eq, isNull, type Orm, sql } from '../engine/orm.ts';
import { lightningAccount, walletAccount } from '../metering/ledger/accounts.ts';
import type { WalletBooking } from './booking.ts';
import { heldOfWallets } from './pending.ts';
import {
  hasNotFailed,
  invoices,
  payments,
  walletDeposits,
  walletReconciliations,
  wallets,
} from './tables.ts';

export const isOfBook = ({ backend, network }: WalletBook) =>
  and(eq(walletReconciliations.backend, backend), eq(walletReconciliations.network, network));

/** Whether the wallets of a back end await that they are compared with their node. */
export function isUnreconciled(orm: Orm, book: WalletBook): boolean {
  const isOpen = and(isOfBook(book), isNull(walletReconciliations.endedAt));
  return orm.select({ one: sql`1` }).from(walletReconciliations).where(isOpen).get() !== undefined;
}

export function reconciliationWrites(orm: Orm, booking: WalletBooking, daemon: number) {
  return {
    'reconciliations.open': ({
      backend,
      network,
      since,
      at,
    }: WalletBook & { since: number; at: number }): void => {
      orm
        .insert(walletReconciliations)
        .values({ backend, network, since, openedAt: at })
        .onConflictDoUpdate({
          target: [walletReconciliations.backend, walletReconciliations.network],
          set: {
            // One that has not ended goes back as far as before.
            since: sql`CASE WHEN ${walletReconciliations.endedAt} IS NULL THEN min(${walletReconciliations.since}, ${since}) ELSE ${since} END`,
            openedAt: at,
            endedAt: null,
            acceptedBy: null,
          },
        })
        .run();
    },

    'reconciliations.end': ({
      openedAt,
      at,
      acceptedBy,
      ...of
    }: WalletBook & Pick<ReconciliationRecord, 'openedAt' | 'acceptedBy'> & { at: number }): boolean =>
      orm
        .update(walletReconciliations)
        .set({ endedAt: at, acceptedBy })
        .where(
          and(
            isOfBook(of),
            eq(walletReconciliations.openedAt, openedAt),
            isNull(walletReconciliations.endedAt),
          ),
        )
        .run().changes === 1,

    ...moveWrites(orm, booking, daemon),
  };
}

function moveWrites(orm: Orm, booking: WalletBooking, daemon: number) {
  const { available, book, invoicePaid, paymentSettled } = booking;

  const bookReceipt = (receipt: BookedReceipt, at: number): void => {
    const { received, ...invoice } = receipt;
    orm
      .insert(invoices)
      .values({ ...invoice, state: 'paid', received, paidAt: at })
      .run();
    const move = { debit: lightningAccount, credit: walletAccount(receipt.walletId), amount: received };
    book(receipt.id, at, [{ kind: 'receipt', ...move }], [invoicePaid(receipt, at)]);
  };

  /** What the wallet lacks is money of the node that was assigned to it after the backup. */
  const bookPayment = (payment: BookedPayment, at: number): void => {
    const { depositId, mayFallShort: _, ...given } = payment;
    const { id, walletId, amount, fee } = given;
    const wallet = walletAccount(walletId);
    const missing = amount + fee - available(walletId);
    if (missing > 0) {
      orm
        .insert(walletDeposits)
        .values({ id: depositId, walletId, amount: missing, createdAt: at, source: 'backend' })
        .run();
      book(
        depositId,
        at,
        [{ kind: 'deposit', debit: lightningAccount, credit: wallet, amount: missing }],
        [],
      );
    }
    const ended = { state: 'succeeded', failure: null, settledAt: at, resolvedBy: null } as const;
    const record = { ...given, ...ended, feeLimit: fee, host: null, budget: null, daemon };
    orm.insert(payments).values(record).run();
    const move = { debit: wallet, credit: lightningAccount };
    book(
      id,
      at,
      [
        { kind: 'payment', ...move, amount },
        { kind: 'payment_fee', ...move, amount: fee },
      ],
      [paymentSettled(record, at)],
    );
  };

  return {
    /** The balances of all wallets never exceed what the node has because of a receipt. */
    'reconciliations.book': (moves: MovesToBook): BookedStates => {
      const { openedAt, held, at } = moves;
      const states: BookedStates = {};
      const current = orm.select().from(walletReconciliations).where(isOfBook(moves)).get();
      if (current?.openedAt !== openedAt || current.endedAt !== null) return states;
      const isKnownInvoice = (hash: string) =>
        orm.select({ id: invoices.id }).from(invoices).where(eq(invoices.paymentHash, hash)).get() !==
        undefined;
      const isKnownPayment = (hash: string) =>
        orm
          .select({ id: payments.id })
          .from(payments)
          .where(and(eq(payments.paymentHash, hash), hasNotFailed))
          .get() !== undefined;
      const newReceipts = moves.receipts.filter(({ paymentHash }) => !isKnownInvoice(paymentHash));
      const newPayments = moves.payments.filter(({ paymentHash }) => !isKnownPayment(paymentHash));

      const isSameBook = and(eq(wallets.backend, moves.backend), eq(wallets.network, moves.network));
      const ids = orm.select({ id: wallets.id }).from(wallets).where(isSameBook).all();
      const balances = new Map(ids.map(({ id }) => [id, available(id)]));
      const pending = heldOfWallets(orm, isSameBook);
      const { isHeldBack, isShort } = planReceipts({ balances, pending, held, newReceipts, newPayments });

      for (const receipt of newReceipts) {
        const state = isHeldBack.has(receipt.paymentHash) ? 'held-back' : 'booked';
        if (state === 'booked') bookReceipt(receipt, at);
        states[receipt.id] = state;
      }
      // Those that only a person attributed come last, and are not paid for by the host.
      const inOrder = newPayments.toSorted((a, b) => Number(b.mayFallShort) - Number(a.mayFallShort));
      for (const payment of inOrder) {
        const { walletId, amount, fee } = payment;
        const isCovered = available(walletId) >= amount + fee;
        const state = isCovered || (payment.mayFallShort && !isShort.has(walletId)) ? 'booked' : 'held-back';
        if (state === 'booked') bookPayment(payment, at);
        states[payment.id] = state;
      }
      return states;
    },
  };
}

interface ReceiptsToPlan {
  /** Of all wallets. */
  balances: ReadonlyMap<string, number>;
  /** What pending payments of the wallets hold. */
  pending: number;
  /** What the node has. */
  held: number | null;
  newReceipts: readonly BookedReceipt[];
  newPayments: readonly BookedPayment[];
}

/**
 * Finds the receipts that would make the wallets hold more than the node has. A wallet that lacks one is short: what it lacks
 * for its payments may have come from there, so that the host does not add it.
 */
function planReceipts({ balances, pending, held, newReceipts, newPayments }: ReceiptsToPlan) {
  const owned = newPayments.filter(({ mayFallShort }) => mayFallShort);
  const costs = Map.groupBy(owned, ({ walletId }) => walletId);
  const isShort = new Set<string>();
  const endOf = (walletId: string, credited: number): number => {
    const cost = (costs.get(walletId) ?? []).map(({ amount, fee }) => amount + fee);
    const start = (balances.get(walletId) ?? 0) + credited;
    if (isShort.has(walletId)) return cost.reduce((left, each) => (left >= each ? left - each : left), start);
    return Math.max(
      0,
      cost.reduce((left, each) => left - each, start),
    );
  };
  for (;;) {
    const isHeldBack = new Set<string>();
    const credited = new Map<string, number>();
    const shortBefore = isShort.size;
    let owed = pending;
    for (const walletId of balances.keys()) owed += endOf(walletId, 0);
    for (const { walletId, paymentHash, received } of newReceipts) {
      const before = credited.get(walletId) ?? 0;
      const after = owed - endOf(walletId, before) + endOf(walletId, before + received);
      if (after > owed && (held === null || after > held)) {
        isHeldBack.add(paymentHash);
        isShort.add(walletId);
        if (isShort.size > shortBefore) break;
      } else {
        credited.set(walletId, before + received);
        owed = after;
      }
    }
    // The sums change with each wallet that is found to be short.
    if (isShort.size === shortBefore) return { isHeldBack, isShort };
  }
}

/** To be called in the first transaction after a backup was restored. */
export const openAfterRestore = `
  INSERT INTO wallet_reconciliations (backend, network, since, opened_at)
  SELECT DISTINCT backend, network, @since, @at FROM wallets WHERE backend <> 'embedded'
  ON CONFLICT (backend, network) DO UPDATE SET
    since = CASE WHEN wallet_reconciliations.ended_at IS NULL THEN min(wallet_reconciliations.since, excluded.since)
      ELSE excluded.since END,
    opened_at = excluded.opened_at, ended_at = NULL, accepted_by = NULL`;
