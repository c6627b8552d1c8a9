import { formatUsd } from '../../../../shared/money/money.ts';
import type { Challenge, ChallengesStore, Redemption } from '../../../features/payment-required/store.ts';
import type { Connection } from '../engine/connection.ts';
import {
  and,
  asc,
  desc,
  eq,
  gt,
  inArray,
  integer,
  isNull,
  lt,
  lte,
  ne,
  type Orm,
  or,
  sqliteTable,
  text,
} from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { eventInsert } from '../events/writes.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { topUpsAccount, workspaceAccount } from '../metering/ledger/accounts.ts';
import { entryFormat, entryInsert } from '../metering/ledger/ledger-chain.ts';
import { accounts } from '../metering/ledger/ledger-tables.ts';
import { balanceMax } from '../metering/ledger-writes.ts';
import { invoices } from '../wallet/tables.ts';

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

type Row = typeof paymentChallenges.$inferSelect;

function rowOf({ request, commitment, rate, ...columns }: Challenge): Row {
  return {
    ...columns,
    method: request?.method ?? null,
    path: request?.path ?? null,
    digest: request?.digest ?? null,
    requestHash: commitment?.requestHash ?? null,
    payee: commitment?.payee ?? null,
    rate: rate.perBitcoin,
    rateSource: rate.source,
    rateAt: rate.at,
  };
}

function challengeOf(row: Row): Challenge {
  const { method, path, digest, requestHash, payee, rate, rateSource, rateAt, ...columns } = row;
  return {
    ...columns,
    request: method === null || path === null || digest === null ? null : { method, path, digest },
    commitment: requestHash === null || payee === null ? null : { requestHash, payee },
    rate: { perBitcoin: rate, source: rateSource, at: rateAt },
  };
}

export function challengesStore({ orm, writer }: StoreContext<ChallengesWrites>): ChallengesStore {
  const find = (where: ReturnType<typeof eq>): Challenge | undefined => {
    const row = orm.select().from(paymentChallenges).where(where).get();
    return row && challengeOf(row);
  };
  return {
    add: (challenge) => writer.write('paymentChallenges.insert', challenge),
    find: async (id) => find(eq(paymentChallenges.id, id)),
    byPaymentHash: async (paymentHash) => find(eq(paymentChallenges.paymentHash, paymentHash)),
    byInvoice: async (invoice) => find(eq(paymentChallenges.invoice, invoice)),
    async openFor(credentialId, { method, path, digest }, expiresAfter) {
      const isFor = and(
        eq(paymentChallenges.credentialId, credentialId),
        eq(paymentChallenges.digest, digest),
        eq(paymentChallenges.method, method),
        eq(paymentChallenges.path, path),
      );
      const isOpen = and(isNull(paymentChallenges.usedAt), gt(paymentChallenges.expiresAt, expiresAfter));
      const query = orm.select().from(paymentChallenges).where(and(isFor, isOpen));
      const row = query.orderBy(desc(paymentChallenges.expiresAt)).limit(1).get();
      return row && challengeOf(row);
    },
    redeem: (redemption) => writer.write('paymentChallenges.redeem', redemption),
    async redeemable(at, limit) {
      const isOver = or(isNull(paymentChallenges.digest), lte(paymentChallenges.expiresAt, at));
      return orm
        .select({ challenge: paymentChallenges })
        .from(paymentChallenges)
        .innerJoin(invoices, eq(invoices.id, paymentChallenges.invoiceId))
        .where(and(isNull(paymentChallenges.usedAt), eq(invoices.state, 'paid'), isOver))
        .orderBy(asc(paymentChallenges.expiresAt))
        .limit(limit)
        .all()
        .map(({ challenge }) => challengeOf(challenge));
    },
    removeExpired: (before, limit) => writer.write('paymentChallenges.removeExpired', { before, limit }),
  };
}

export function challengesWrites(database: Connection, orm: Orm, totals: BatchTotals) {
  const insertEntry = entryInsert(database);
  const insertEvents = eventInsert(orm, totals);
  return {
    'paymentChallenges.insert': (challenge: Challenge): void => {
      orm.insert(paymentChallenges).values(rowOf(challenge)).run();
    },

    'paymentChallenges.redeem': ({ id, at }: Parameters<ChallengesStore['redeem']>[0]): Redemption => {
      const found = orm
        .select({ challenge: paymentChallenges, state: invoices.state })
        .from(paymentChallenges)
        .innerJoin(invoices, eq(invoices.id, paymentChallenges.invoiceId))
        .where(eq(paymentChallenges.id, id))
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
        .update(paymentChallenges)
        .set({ usedAt: at })
        .where(and(eq(paymentChallenges.id, id), isNull(paymentChallenges.usedAt)))
        .run();
      const move = { kind: 'top_up', debit: topUpsAccount, credit: account } as const;
      const entry = entryFormat.row({ requestId: id, ...move, amount, createdAt: at });
      insertEntry.run(entry);
      const data = { challenge: id, invoice: challenge.invoiceId, usd: formatUsd(amount) };
      totals.addEvent(insertEvents({ type: 'credit.added', workspaceId, at, data }));
      totals.addEntry(entry);
      return 'redeemed';
    },

    'paymentChallenges.removeExpired': ({ before, limit }: { before: number; limit: number }): number => {
      const isOver = and(isNull(paymentChallenges.usedAt), lt(paymentChallenges.expiresAt, before));
      const expired = orm
        .select({ id: paymentChallenges.id, invoiceId: paymentChallenges.invoiceId })
        .from(paymentChallenges)
        .innerJoin(invoices, eq(invoices.id, paymentChallenges.invoiceId))
        .where(and(isOver, ne(invoices.state, 'paid')))
        .orderBy(asc(paymentChallenges.expiresAt))
        .limit(limit)
        .all();
      const ids = (name: 'id' | 'invoiceId') => expired.map((row) => row[name]);
      orm
        .delete(paymentChallenges)
        .where(inArray(paymentChallenges.id, ids('id')))
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
