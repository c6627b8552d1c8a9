import { and, eq, type Orm, type SQL, sql } from '../engine/orm.ts';
import { payments, wallets } from './tables.ts';

/** A literal, as SQLite does not use a partial index for a bound value. */
export const isPending = sql`${payments.state} = 'pending'`;

const held = sql<number>`coalesce(sum(${payments.amount} + ${payments.feeLimit}), 0)`;

/** What the pending payments of a wallet hold, millisatoshis. */
export function heldOfWallet(orm: Orm, walletId: string): number {
  // An expression, so that the few pending payments of all wallets are read, instead of every payment of this one.
  const ofWallet = sql`${payments.walletId} || '' = ${walletId}`;
  const found = orm.select({ held }).from(payments).where(and(isPending, ofWallet)).get();
  return found?.held ?? 0;
}

/** What the pending payments of the wallets that match a condition hold, millisatoshis. */
export function heldOfWallets(orm: Orm, condition: SQL | undefined): number {
  const found = orm
    .select({ held })
    .from(payments)
    .innerJoin(wallets, eq(wallets.id, payments.walletId))
    .where(and(isPending, condition))
    .get();
  return found?.held ?? 0;
}
