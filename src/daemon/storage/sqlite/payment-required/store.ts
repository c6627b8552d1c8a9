import type { Challenge, ChallengesStore } from '../../../features/payment-required/store.ts';
import { and, asc, desc, eq, gt, isNull, lte, or } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { invoices } from '../wallet/tables.ts';
import { challengeOf } from './rows.ts';
import { paymentChallenges as challenges } from './tables.ts';
import type { ChallengesWrites } from './writes.ts';

export function challengesStore({ orm, writer }: StoreContext<ChallengesWrites>): ChallengesStore {
  const find = (where: ReturnType<typeof eq>): Challenge | undefined => {
    const row = orm.select().from(challenges).where(where).get();
    return row && challengeOf(row);
  };
  return {
    add: (challenge) => writer.write('challenges.insert', challenge),
    find: async (id) => find(eq(challenges.id, id)),
    byPaymentHash: async (paymentHash) => find(eq(challenges.paymentHash, paymentHash)),
    byInvoice: async (invoice) => find(eq(challenges.invoice, invoice)),
    async openFor(credentialId, { method, path, digest }, expiresAfter) {
      const isFor = and(
        eq(challenges.credentialId, credentialId),
        eq(challenges.digest, digest),
        eq(challenges.method, method),
        eq(challenges.path, path),
      );
      const isOpen = and(isNull(challenges.usedAt), gt(challenges.expiresAt, expiresAfter));
      const query = orm.select().from(challenges).where(and(isFor, isOpen));
      const row = query.orderBy(desc(challenges.expiresAt)).limit(1).get();
      return row && challengeOf(row);
    },
    redeem: (redemption) => writer.write('challenges.redeem', redemption),
    async redeemable(at, limit) {
      const isOver = or(isNull(challenges.digest), lte(challenges.expiresAt, at));
      return orm
        .select({ challenge: challenges })
        .from(challenges)
        .innerJoin(invoices, eq(invoices.id, challenges.invoiceId))
        .where(and(isNull(challenges.usedAt), eq(invoices.state, 'paid'), isOver))
        .orderBy(asc(challenges.expiresAt))
        .limit(limit)
        .all()
        .map(({ challenge }) => challengeOf(challenge));
    },
    removeExpired: (before, limit) => writer.write('challenges.removeExpired', { before, limit }),
  };
}
