import type { PaywallsStore } from '../../../features/paywalls/store.ts';
import { and, columnsOf, desc, eq, lt, max, ne, or } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { invoices } from '../wallet/tables.ts';
import { isServing, paywallChallenges, paywalls } from './tables.ts';
import type { PaywallsWrites } from './writes.ts';

export function paywallsStore({ database, orm, writer }: StoreContext<PaywallsWrites>): PaywallsStore {
  /** One snapshot, so that the revision is that of the paywalls. */
  const serving = database.transaction(() => ({
    revision:
      orm
        .select({ last: max(paywalls.revision) })
        .from(paywalls)
        .get()?.last ?? 0,
    paywalls: orm.select().from(paywalls).where(isServing).all(),
  }));
  return {
    insert: (terms, names) => writer.write('paywalls.insert', { terms, names }),
    find: async (owner, reference) =>
      orm
        .select()
        .from(paywalls)
        .where(
          and(
            eq(paywalls.owner, owner),
            or(eq(paywalls.id, reference), and(eq(paywalls.name, reference), isServing)),
          ),
        )
        .get(),
    list: async (owner, { limit, before, status }) =>
      orm
        .select()
        .from(paywalls)
        .where(
          and(
            eq(paywalls.owner, owner),
            status === undefined ? ne(paywalls.status, 'deleted') : eq(paywalls.status, status),
            before === undefined ? undefined : lt(paywalls.id, before),
          ),
        )
        .orderBy(desc(paywalls.id))
        .limit(limit)
        .all(),
    serving: async () => serving(),
    replace: (before, after) => writer.write('paywalls.replace', { before, after }),
    addChallenge: (challenge) => writer.write('paywalls.challenge', challenge),
    challenge: async (id) => orm.select().from(paywallChallenges).where(eq(paywallChallenges.id, id)).get(),
    charge: async (paymentId) => {
      const found = orm
        .select({
          ...columnsOf(paywallChallenges),
          invoice: invoices.invoice,
          amount: invoices.amount,
          invoiceExpiresAt: invoices.expiresAt,
        })
        .from(paywallChallenges)
        .innerJoin(invoices, eq(invoices.id, paywallChallenges.invoiceId))
        .where(eq(paywallChallenges.paymentId, paymentId))
        .get();
      return found?.request ? { ...found, request: found.request } : undefined;
    },
    redeemCharge: (id) => writer.write('paywalls.redeemCharge', id),
    use: (use) => writer.write('paywalls.use', use),
    giveBack: (id) => writer.write('paywalls.giveBack', id),
    noteTime: (note) => writer.write('paywalls.noteTime', note),
    takeFree: (use) => writer.write('paywalls.takeFree', use),
    prune: (bounds) => writer.write('paywalls.prune', bounds),
  };
}
