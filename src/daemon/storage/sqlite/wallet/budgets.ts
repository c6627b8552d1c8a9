import type { PaymentBudget } from '../../../features/wallet/store.ts';
import { and, eq, gte, ne, type Orm, sql } from '../engine/orm.ts';
import { payments } from './tables.ts';

/** The rest of a wallet's budget, in millisatoshis. Pending payments count with their fee limit. */
export function leftOfBudget(orm: Orm, walletId: string, { name, since, max }: PaymentBudget): number {
  const spent = sql<number>`coalesce(sum(${payments.amount} + coalesce(${payments.fee}, ${payments.feeLimit})), 0)`;
  const counts = and(
    eq(payments.walletId, walletId),
    eq(payments.budget, name),
    gte(payments.createdAt, since),
    ne(payments.state, 'failed'),
  );
  return max - (orm.select({ spent }).from(payments).where(counts).get()?.spent ?? 0);
}
