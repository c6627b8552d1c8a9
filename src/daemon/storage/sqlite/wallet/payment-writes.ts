import type {
  NewPayment,
  PaymentRecord,
  PaymentRefusal,
  Settlement,
} from '../../../features/wallet/store.ts';
import { and, eq, gt, type Orm } from '../engine/orm.ts';
import {
  hostAccount,
  inFlightAccount,
  lightningAccount,
  walletAccount,
} from '../metering/ledger/accounts.ts';
import type { Move, WalletBooking } from './booking.ts';
import { leftOfBudget } from './budgets.ts';
import { isPending } from './pending.ts';
import { isUnreconciled } from './reconciliation-writes.ts';
import { hasNotFailed, invoices, paymentColumns, payments, wallets } from './tables.ts';

interface InternalPayment {
  payment: NewPayment;
  revealed: string | undefined;
}

export function paymentWrites(
  orm: Orm,
  { available, book, invoicePaid, paymentSettled }: WalletBooking,
  daemon: number,
) {
  const insert = (record: PaymentRecord) =>
    orm
      .insert(payments)
      .values({ ...record, daemon })
      .run();
  const bookOf = (id: string) =>
    orm
      .select({ backend: wallets.backend, network: wallets.network })
      .from(wallets)
      .where(eq(wallets.id, id))
      .get();
  /** Why the payment cannot be recorded now. */
  const refusal = (payment: NewPayment): PaymentRefusal | undefined => {
    const { walletId, paymentHash, amount, feeLimit, expiresAt, createdAt, budget } = payment;
    const isTaken = and(eq(payments.paymentHash, paymentHash), hasNotFailed);
    const taken = orm.select(paymentColumns).from(payments).where(isTaken).get();
    if (taken)
      return { refused: 'taken', payment: { id: taken.id, walletId: taken.walletId, state: taken.state } };
    if (expiresAt <= createdAt) return { refused: 'expired' };
    const payer = bookOf(walletId);
    if (payer && isUnreconciled(orm, payer)) return { refused: 'unreconciled' };
    const needed = amount + feeLimit;
    const left = budget ? leftOfBudget(orm, walletId, budget) : needed;
    if (left < needed) return { refused: 'budget', left };
    const balance = available(walletId);
    return balance < needed ? { refused: 'insufficient', available: balance } : undefined;
  };

  return {
    'payments.payInternally': ({ payment, revealed }: InternalPayment): PaymentRecord | PaymentRefusal => {
      const { id, walletId, amount, createdAt: at } = payment;
      const isSame = and(
        eq(invoices.paymentHash, payment.paymentHash),
        eq(invoices.invoice, payment.invoice),
      );
      const invoice = orm.select().from(invoices).where(isSame).get();
      const preimage = invoice?.preimage ?? revealed;
      if (!invoice || preimage === undefined || invoice.amount !== amount)
        return { refused: 'unknown-invoice' };
      const [from, to] = [bookOf(walletId), bookOf(invoice.walletId)];
      if (from?.backend !== to?.backend || from?.network !== to?.network)
        return { refused: 'unknown-invoice' };
      const refused = refusal(payment);
      if (refused) return refused;
      const isOpen = and(eq(invoices.id, invoice.id), eq(invoices.state, 'open'), gt(invoices.expiresAt, at));
      const opened = orm
        .update(invoices)
        .set({
          state: 'paid',
          received: amount,
          paidAt: at,
          stillPayable: invoice.preimage === null ? 1 : null,
        })
        .where(isOpen)
        .run();
      if (opened.changes === 0) return { refused: 'expired' };
      const ended = {
        state: 'succeeded',
        fee: 0,
        failure: null,
        preimage,
        settledAt: at,
        resolvedBy: null,
      } as const;
      const record: PaymentRecord = { ...payment, ...ended, budget: payment.budget?.name ?? null };
      insert(record);
      const move = { debit: walletAccount(walletId), credit: walletAccount(invoice.walletId), amount };
      book(id, at, [{ kind: 'payment', ...move }], [invoicePaid(invoice, at), paymentSettled(record, at)]);
      return record;
    },

    'payments.start': (payment: NewPayment): PaymentRecord | PaymentRefusal => {
      const refused = refusal(payment);
      if (refused) return refused;
      const { id, walletId, amount, feeLimit, createdAt } = payment;
      const open = {
        state: 'pending',
        fee: null,
        failure: null,
        preimage: null,
        settledAt: null,
        resolvedBy: null,
      } as const;
      const record: PaymentRecord = { ...payment, ...open, budget: payment.budget?.name ?? null };
      insert(record);
      const move = { debit: walletAccount(walletId), credit: inFlightAccount, amount: amount + feeLimit };
      book(id, createdAt, [{ kind: 'payment_hold', ...move }], []);
      return record;
    },

    'payments.adopt': (from: number): void => {
      const left = and(isPending, eq(payments.daemon, from));
      orm.update(payments).set({ daemon }).where(left).run();
    },

    'payments.settle': (settlement: Settlement): PaymentRecord | undefined => {
      const { id, at, ...outcome } = settlement;
      const [record] = orm
        .update(payments)
        .set({ ...outcome, settledAt: at })
        .where(and(eq(payments.id, id), eq(payments.state, 'pending')))
        .returning(paymentColumns)
        .all();
      if (!record) return undefined;
      book(id, at, settlementMoves(record), [paymentSettled(record, at)]);
      return record;
    },
  };
}

/** The moves that end the hold of a payment. Fees beyond the reserved limit are the host's. */
function settlementMoves({ walletId, state, amount, feeLimit, fee }: PaymentRecord): Move[] {
  const wallet = walletAccount(walletId);
  const debit = inFlightAccount;
  if (state === 'failed')
    return [{ kind: 'payment_return', debit, credit: wallet, amount: amount + feeLimit }];
  const charged = Math.min(fee ?? 0, feeLimit);
  return [
    { kind: 'payment', debit, credit: lightningAccount, amount },
    { kind: 'payment_fee', debit, credit: lightningAccount, amount: charged },
    { kind: 'payment_return', debit, credit: wallet, amount: feeLimit - charged },
    { kind: 'payment_excess', debit: hostAccount, credit: lightningAccount, amount: (fee ?? 0) - charged },
  ];
}
