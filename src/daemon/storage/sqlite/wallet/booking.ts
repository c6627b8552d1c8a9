import type { NewEvent } from '../../../features/events/index.ts';
import type { PaymentRecord } from '../../../features/wallet/store.ts';
import type { Connection } from '../engine/connection.ts';
import { eq, type Orm } from '../engine/orm.ts';
import { eventInsert } from '../events/writes.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { walletAccount } from '../metering/ledger/accounts.ts';
import { type EntryRow, entryFormat, entryInsert } from '../metering/ledger/ledger-chain.ts';
import { accounts } from '../metering/ledger/ledger-tables.ts';
import { wallets } from './tables.ts';

export type Move = Pick<Parameters<(typeof entryFormat)['row']>[0], 'kind' | 'debit' | 'credit' | 'amount'>;

/** Shared by the writes of wallets: balances, ledger entries and events. */
export function walletBooking(database: Connection, orm: Orm, totals: BatchTotals) {
  const insertEntry = entryInsert(database);
  const insertEvents = eventInsert(orm, totals);
  const workspaceOf = (walletId: string): string => {
    const found = orm.select().from(wallets).where(eq(wallets.id, walletId)).get();
    if (!found) throw new Error('there is no such wallet');
    return found.workspaceId;
  };

  return {
    /** The balance of a wallet, including the changes of the running batch. */
    available(walletId: string): number {
      const account = walletAccount(walletId);
      const stored = orm.select().from(accounts).where(eq(accounts.id, account)).get();
      return (stored?.balance ?? 0) + totals.pendingChange(account);
    },

    /**
     * Stores entries and events: the last step of an operation, as nothing may fail once the totals have changed. Moves of
     * no amount, or within one wallet, leave no entry.
     */
    book(id: string, at: number, moves: readonly Move[], events: readonly NewEvent[]): void {
      const rows: EntryRow[] = moves
        .filter(({ debit, credit, amount }) => amount > 0 && debit !== credit)
        .map((move) => entryFormat.row({ ...move, requestId: id, createdAt: at }));
      for (const row of rows) insertEntry.run(row);
      totals.addEvent(insertEvents(...events));
      for (const row of rows) totals.addEntry(row);
    },

    /** Other members of the workspace can see events, so these contain only ids. */
    invoicePaid: (invoice: { id: string; walletId: string }, at: number): NewEvent => ({
      type: 'invoice.paid',
      workspaceId: workspaceOf(invoice.walletId),
      at,
      data: { invoice: invoice.id },
    }),

    paymentSettled: ({ id, walletId, state }: PaymentRecord, at: number): NewEvent => ({
      type: 'payment.settled',
      workspaceId: workspaceOf(walletId),
      at,
      data: { payment: id, status: state },
    }),
  };
}

export type WalletBooking = ReturnType<typeof walletBooking>;
