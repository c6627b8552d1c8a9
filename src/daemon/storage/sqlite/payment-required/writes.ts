import { formatUsd } from '../../../../shared/money/money.ts';
import type { Challenge, ChallengesStore, Redemption } from '../../../features/payment-required/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, asc, eq, inArray, isNull, lt, ne, type Orm } from '../engine/orm.ts';
import { eventInsert } from '../events/writes.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { topUpsAccount, workspaceAccount } from '../metering/ledger/accounts.ts';
import { entryFormat, entryInsert } from '../metering/ledger/ledger-chain.ts';
import { accounts } from '../metering/ledger/ledger-tables.ts';
import { balanceMax } from '../metering/ledger-writes.ts';
import { invoices } from '../wallet/tables.ts';
import { rowOf } from './rows.ts';
import { paymentChallenges as challenges } from './tables.ts';

export function challengesWrites(database: Connection, orm: Orm, totals: BatchTotals) {
  const insertEntry = entryInsert(database);
  const insertEvents = eventInsert(orm, totals);
  return {
    'challenges.insert': (challenge: Challenge): void => {
      orm.insert(challenges).values(rowOf(challenge)).run();
    },

    'challenges.redeem': ({ id, at }: Parameters<ChallengesStore['redeem']>[0]): Redemption => {
      const found = orm
        .select({ challenge: challenges, state: invoices.state })
        .from(challenges)
        .innerJoin(invoices, eq(invoices.id, challenges.invoiceId))
        .where(eq(challenges.id, id))
        .get();
      if (found?.state !== 'paid') return 'unpaid';
      const { challenge } = found;
      if (challenge.usedAt !== null) return 'used';
      const { workspaceId, credit: amount } = challenge;
      const account = workspaceAccount(workspaceId);
      const stored = orm.select().from(accounts).where(eq(accounts.id, account)).get();
      const balance = (stored?.balance ?? 0) + totals.pendingChange(account);
      if (balance + amount > balanceMax) return 'too-much';
      orm
        .update(challenges)
        .set({ usedAt: at })
        .where(and(eq(challenges.id, id), isNull(challenges.usedAt)))
        .run();
      const move = { kind: 'top_up', debit: topUpsAccount, credit: account } as const;
      const entry = entryFormat.row({ requestId: id, ...move, amount, createdAt: at });
      insertEntry.run(entry);
      const data = { challenge: id, invoice: challenge.invoiceId, usd: formatUsd(amount) };
      totals.addEvent(insertEvents({ type: 'credit.added', workspaceId, at, data }));
      totals.addEntry(entry);
      return 'redeemed';
    },

    'challenges.removeExpired': ({ before, limit }: { before: number; limit: number }): number => {
      const isOver = and(isNull(challenges.usedAt), lt(challenges.expiresAt, before));
      const expired = orm
        .select({ id: challenges.id, invoiceId: challenges.invoiceId })
        .from(challenges)
        .innerJoin(invoices, eq(invoices.id, challenges.invoiceId))
        .where(and(isOver, ne(invoices.state, 'paid')))
        .orderBy(asc(challenges.expiresAt))
        .limit(limit)
        .all();
      const ids = (name: 'id' | 'invoiceId') => expired.map((row) => row[name]);
      orm
        .delete(challenges)
        .where(inArray(challenges.id, ids('id')))
        .run();
      orm
        .delete(invoices)
        .where(inArray(invoices.id, ids('invoiceId')))
        .run();
      return expired.length;
    },
  };
}

export type ChallengesWrites = ReturnType<typeof challengesWrites>;
