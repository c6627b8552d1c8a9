import type { InvoiceRecord, PaymentRecord, WalletStore } from '../../../features/wallet/store.ts';
import { and, asc, columnsOf, desc, eq, gt, isNull, lt, type SQL, sql } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { walletAccount } from '../metering/ledger/accounts.ts';
import { accounts } from '../metering/ledger/ledger-tables.ts';
import { leftOfBudget } from './budgets.ts';
import { heldOfWallet, heldOfWallets, isPending } from './pending.ts';
import { isOfBook } from './reconciliation-writes.ts';
import {
  hasNotFailed,
  invoices,
  paymentColumns,
  payments,
  walletNodes,
  walletReconciliations,
  wallets,
} from './tables.ts';
import type { WalletWrites } from './writes.ts';

const { secret: _secret, replacedAt: _replacedAt, ...walletColumns } = columnsOf(wallets);
const {
  preimage: _preimage,
  lapsedAt: _lapsedAt,
  stillPayable: _stillPayable,
  ...invoiceColumns
} = columnsOf(invoices);

/** A literal, as SQLite does not use a partial index for a bound value. */
const isOpen = sql`${invoices.lapsedAt} is null and (${invoices.state} = 'open' or ${invoices.stillPayable} = 1)`;

export function walletStore({ database, orm, writer, daemon }: StoreContext<WalletWrites>): WalletStore {
  const findWallet = (where: ReturnType<typeof eq> | undefined) =>
    orm.select(walletColumns).from(wallets).where(where).get();
  const findInvoice = (where: ReturnType<typeof eq>): InvoiceRecord | undefined =>
    orm.select(invoiceColumns).from(invoices).where(where).get();

  const hasPending = (daemon: number) =>
    orm
      .select({ id: payments.id })
      .from(payments)
      .where(and(isPending, eq(payments.daemon, daemon)))
      .limit(1)
      .get() !== undefined;

  /** One snapshot, as a payment moves money from one to the other. */
  const balance = database.transaction((id: string) => {
    const account = eq(accounts.id, walletAccount(id));
    const available = orm.select().from(accounts).where(account).get()?.balance ?? 0;
    return { available, pending: heldOfWallet(orm, id) };
  });

  /** One snapshot of what is in wallets and in their pending payments. */
  const owed = database.transaction((condition: SQL | undefined) => {
    const found = orm
      .select({ available: sql<number>`coalesce(sum(${accounts.balance}), 0)` })
      .from(wallets)
      .innerJoin(accounts, eq(accounts.id, sql`${walletAccount('')} || ${wallets.id}`))
      .where(condition)
      .get();
    return (found?.available ?? 0) + heldOfWallets(orm, condition);
  });

  return {
    create: (wallet, secret, replaces) => writer.write('wallets.create', { wallet, secret, replaces }),
    ofOwner: async (ownerId, { backend, network }) =>
      findWallet(
        and(
          eq(wallets.ownerId, ownerId),
          eq(wallets.backend, backend),
          eq(wallets.network, network),
          isNull(wallets.replacedAt),
        ),
      ),
    find: async (id) => findWallet(eq(wallets.id, id)),
    balance: async (id) => balance(id),
    deposit: (deposit) => writer.write('wallets.deposit', deposit),

    owed: async ({ backend, network }) =>
      owed(and(eq(wallets.backend, backend), eq(wallets.network, network))),
    fund: (deposit) => writer.write('wallets.fund', deposit),

    trustedNode: async ({ backend, network }) =>
      orm
        .select()
        .from(walletNodes)
        .where(and(eq(walletNodes.backend, backend), eq(walletNodes.network, network)))
        .get()?.nodeId,
    trustNode: (node) => writer.write('wallets.trustNode', node),

    walletsOf: async ({ backend, network }) =>
      orm
        .select(walletColumns)
        .from(wallets)
        .where(and(eq(wallets.backend, backend), eq(wallets.network, network)))
        .all(),
    reconciliation: async (book) => orm.select().from(walletReconciliations).where(isOfBook(book)).get(),
    openReconciliation: (opening) => writer.write('reconciliations.open', opening),
    bookMoves: (moves) => writer.write('reconciliations.book', moves),
    endReconciliation: (end) => writer.write('reconciliations.end', end),

    addInvoice: (invoice) => writer.write('invoices.insert', invoice),
    invoice: async (id) => findInvoice(eq(invoices.id, id)),
    invoiceByHash: async (paymentHash) => findInvoice(eq(invoices.paymentHash, paymentHash)),
    invoices: async (walletId, { limit, before }) =>
      orm
        .select(invoiceColumns)
        .from(invoices)
        .where(
          and(eq(invoices.walletId, walletId), before === undefined ? undefined : lt(invoices.id, before)),
        )
        .orderBy(desc(invoices.id))
        .limit(limit)
        .all(),
    openInvoices: async ({ backend, after, limit }) =>
      orm
        .select(invoiceColumns)
        .from(invoices)
        .where(and(isOpen, eq(invoices.backend, backend), gt(invoices.id, after ?? '')))
        .orderBy(asc(invoices.id))
        .limit(limit)
        .all(),
    lapse: (invoice) => writer.write('invoices.lapse', invoice),
    receive: (invoice) => writer.write('invoices.receive', invoice),

    leftOfBudget: async (walletId, budget) => leftOfBudget(orm, walletId, budget),
    payInternally: (payment, revealed) => writer.write('payments.payInternally', { payment, revealed }),
    startPayment: (payment) => writer.write('payments.start', payment),
    settlePayment: (settlement) => writer.write('payments.settle', settlement),
    adoptPayments: async (from) => {
      if (hasPending(from)) await writer.write('payments.adopt', from);
    },
    ...paymentReads(orm, daemon),
  };
}

function paymentReads(orm: StoreContext['orm'], daemon: number) {
  const findPayment = (where: ReturnType<typeof eq> | undefined): PaymentRecord | undefined =>
    orm.select(paymentColumns).from(payments).where(where).get();

  return {
    payment: async (id) => findPayment(eq(payments.id, id)),
    paymentByHash: async (paymentHash) =>
      findPayment(and(eq(payments.paymentHash, paymentHash), hasNotFailed)),
    payments: async (walletId, { limit, before }) =>
      orm
        .select(paymentColumns)
        .from(payments)
        .where(
          and(eq(payments.walletId, walletId), before === undefined ? undefined : lt(payments.id, before)),
        )
        .orderBy(desc(payments.id))
        .limit(limit)
        .all(),
    overduePayments: async ({ backend, expiredBefore, limit }) =>
      orm
        .select(paymentColumns)
        .from(payments)
        .where(and(isPending, eq(payments.backend, backend), lt(payments.expiresAt, expiredBefore)))
        .orderBy(asc(payments.id))
        .limit(limit)
        .all(),
    pendingPayments: async ({ after, limit }) =>
      orm
        .select(paymentColumns)
        .from(payments)
        .where(and(isPending, eq(payments.daemon, daemon), gt(payments.id, after ?? '')))
        .orderBy(asc(payments.id))
        .limit(limit)
        .all(),
  } satisfies Partial<WalletStore>;
}
