import type {
  NewChallenge,
  PaywallRecord,
  PaywallsStore,
  PaywallTerms,
} from '../../../features/paywalls/store.ts';
import type { Connection } from '../engine/connection.ts';
import {
  and,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  max,
  ne,
  notExists,
  type Orm,
  or,
  sql,
} from '../engine/orm.ts';
import { hasNotFailed, invoices, payments } from '../wallet/tables.ts';
import { isServing, paywallChallenges, paywalls } from './tables.ts';

type NewPaywall = { terms: Omit<PaywallTerms, 'name'>; names: readonly string[] };
type Replacement = { before: PaywallRecord; after: PaywallTerms };
type Route = Pick<PaywallTerms, 'owner' | 'mayBePrivate' | 'host' | 'pathPrefix' | 'methods'>;
type FreeUse = Parameters<PaywallsStore['takeFree']>[0];
type Bounds = Parameters<PaywallsStore['prune']>[0];

/** An empty list is every method, and GET includes HEAD. */
function haveMethodInCommon(some: readonly string[], others: readonly string[]): boolean {
  const answered = (methods: readonly string[]) => (methods.includes('GET') ? [...methods, 'HEAD'] : methods);
  const those = answered(others);
  return some.length === 0 || others.length === 0 || answered(some).some((method) => those.includes(method));
}

export function paywallsWrites(database: Connection, orm: Orm) {
  const nextRevision = () =>
    (orm
      .select({ last: max(paywalls.revision) })
      .from(paywalls)
      .get()?.last ?? 0) + 1;
  const isNameTaken = (owner: number, name: string) => {
    const isThis = and(eq(paywalls.owner, owner), eq(paywalls.name, name), isServing);
    return orm.select({ id: paywalls.id }).from(paywalls).where(isThis).get() !== undefined;
  };
  const isRouteTaken = (terms: Pick<PaywallTerms, 'id' | 'host' | 'pathPrefix' | 'methods'>) => {
    const { id, host, pathPrefix, methods } = terms;
    const samePath = and(
      host === null ? isNull(paywalls.host) : eq(paywalls.host, host),
      eq(paywalls.pathPrefix, pathPrefix),
      isServing,
      ne(paywalls.id, id),
    );
    const others = orm.select({ methods: paywalls.methods }).from(paywalls).where(samePath).all();
    return others.some((other) => haveMethodInCommon(methods, other.methods));
  };
  /** Whether the route would take requests from the paywall of another user. The owner of the host may do that. */
  const isWithinAnothers = ({ owner, mayBePrivate, host, pathPrefix, methods }: Route) => {
    if (mayBePrivate) return false;
    const { host: itsHost, pathPrefix: its, methods: itsMethods } = paywalls;
    const isAnothers = and(
      ...[ne(paywalls.owner, owner), isServing],
      host === null ? isNull(itsHost) : or(isNull(itsHost), eq(itsHost, host)),
    );
    const others = orm.select({ its, itsMethods }).from(paywalls).where(isAnothers).all();
    return others.some(
      (other) =>
        (other.its === '/' || `${pathPrefix}/`.startsWith(`${other.its}/`)) &&
        haveMethodInCommon(methods, other.itsMethods),
    );
  };
  return {
    'paywalls.insert': ({ terms, names }: NewPaywall): PaywallRecord | 'name-taken' | 'route-taken' => {
      if (isRouteTaken(terms) || isWithinAnothers(terms)) return 'route-taken';
      const name = names.find((wanted) => !isNameTaken(terms.owner, wanted));
      if (name === undefined) return 'name-taken';
      const statistics = { challenges: 0, paid: 0, revenue: 0 };
      const record: PaywallRecord = { ...terms, name, revision: nextRevision(), ...statistics };
      orm.insert(paywalls).values(record).run();
      return record;
    },

    'paywalls.replace': ({ before, after }: Replacement): PaywallRecord | 'changed' | 'route-taken' => {
      const routeOf = ({ host, pathPrefix, methods }: PaywallTerms) =>
        JSON.stringify([host, pathPrefix, methods]);
      // A paywall that was there before that of the other user stays.
      const isMoved = after.status !== 'deleted' && routeOf(before) !== routeOf(after);
      if (isMoved && (isRouteTaken(after) || isWithinAnothers(after))) return 'route-taken';
      // The statistics change by themselves. Setting the id, even to itself, would search all challenges for those of the paywall.
      const { id: _, challenges: _c, paid: _p, revenue: _r, ...terms } = after as PaywallRecord;
      const [changed] = orm
        .update(paywalls)
        .set({ ...terms, revision: nextRevision() })
        .where(
          and(
            eq(paywalls.id, before.id),
            eq(paywalls.revision, before.revision),
            ne(paywalls.status, 'deleted'),
          ),
        )
        .returning()
        .all();
      return changed ?? 'changed';
    },

    ...tokenWrites(database, orm),
  };
}

/** Challenges, uses of their tokens, and free requests. */
function tokenWrites(database: Connection, orm: Orm) {
  const takeFree = database.prepare<[FreeUse]>(
    `INSERT INTO paywall_free_uses (day, paywall_id, client, count) VALUES (@day, @paywallId, @client, 1)
      ON CONFLICT (day, paywall_id, client) DO UPDATE SET count = paywall_free_uses.count + 1
        WHERE paywall_free_uses.count < @limit`,
  );
  const pruneFreeUses = database.prepare<[Pick<Bounds, 'day' | 'limit'>]>(
    `DELETE FROM paywall_free_uses WHERE (day, paywall_id, client) IN (
       SELECT day, paywall_id, client FROM paywall_free_uses WHERE day < @day ORDER BY day LIMIT @limit)`,
  );
  return {
    'paywalls.challenge': (challenge: NewChallenge): boolean => {
      const counted = orm
        .update(paywalls)
        .set({ challenges: sql`${paywalls.challenges} + 1` })
        .where(and(eq(paywalls.id, challenge.paywallId), ne(paywalls.status, 'deleted')))
        .run();
      if (counted.changes === 0) return false;
      orm.insert(paywallChallenges).values(challenge).run();
      return true;
    },

    'paywalls.use': ({ id, maxUses }: { id: string; maxUses: number }): boolean => {
      const used = orm
        .update(paywallChallenges)
        .set({ uses: sql`${paywallChallenges.uses} + 1` })
        .where(and(eq(paywallChallenges.id, id), lt(paywallChallenges.uses, maxUses)))
        .run();
      return used.changes === 1;
    },

    'paywalls.redeemCharge': (id: string): boolean => {
      const redeemed = orm
        .update(paywallChallenges)
        .set({ uses: 1 })
        .where(and(eq(paywallChallenges.id, id), eq(paywallChallenges.uses, 0)))
        .run();
      return redeemed.changes === 1;
    },

    'paywalls.giveBack': (id: string): void => {
      orm
        .update(paywallChallenges)
        .set({ uses: sql`${paywallChallenges.uses} - 1` })
        .where(and(eq(paywallChallenges.id, id), gt(paywallChallenges.uses, 0)))
        .run();
    },

    'paywalls.noteTime': ({ id, at }: { id: string; at: number }): void => {
      orm
        .update(paywallChallenges)
        .set({ seenAt: at })
        .where(
          and(
            eq(paywallChallenges.id, id),
            or(isNull(paywallChallenges.seenAt), lt(paywallChallenges.seenAt, at)),
          ),
        )
        .run();
    },

    'paywalls.takeFree': (use: FreeUse): boolean => takeFree.run(use).changes === 1,

    'paywalls.prune': ({ expiredBefore, day, limit }: Bounds): number => {
      const earlier = pruneFreeUses.run({ day, limit }).changes;
      // A payment that has not failed may still arrive.
      const isBeingPaid = orm
        .select({ id: payments.id })
        .from(payments)
        .where(and(eq(payments.paymentHash, invoices.paymentHash), hasNotFailed));
      const unpaid = orm
        .select({ id: paywallChallenges.id, invoiceId: paywallChallenges.invoiceId })
        .from(paywallChallenges)
        .innerJoin(invoices, eq(invoices.id, paywallChallenges.invoiceId))
        .where(
          and(
            // What was paid stays, and nearly all of it was used: the index is of unused challenges.
            sql`${paywallChallenges.uses} = 0`,
            lt(paywallChallenges.expiresAt, expiredBefore),
            lt(invoices.expiresAt, expiredBefore),
            eq(invoices.state, 'open'),
            or(eq(invoices.backend, 'embedded'), isNotNull(invoices.lapsedAt)),
            notExists(isBeingPaid),
          ),
        )
        .limit(limit)
        .all();
      if (unpaid.length === 0) return earlier;
      const idsOf = (key: 'id' | 'invoiceId') => unpaid.map((each) => each[key]);
      orm
        .delete(paywallChallenges)
        .where(inArray(paywallChallenges.id, idsOf('id')))
        .run();
      orm
        .delete(invoices)
        .where(inArray(invoices.id, idsOf('invoiceId')))
        .run();
      return earlier + unpaid.length;
    },
  };
}

export type PaywallsWrites = ReturnType<typeof paywallsWrites>;
