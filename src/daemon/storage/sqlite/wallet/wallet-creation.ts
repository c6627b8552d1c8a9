import type { SealedSecret } from '../../../features/vault/store.ts';
import type { WalletRecord, WalletStore } from '../../../features/wallet/store.ts';
import { and, eq, gt, isNotNull, isNull, ne, type Orm, or, sql } from '../engine/orm.ts';
import { vaultSecrets } from '../vault/tables.ts';
import { isCurrentMaster } from '../vault/writes.ts';
import type { WalletBooking } from './booking.ts';
import { invoices, payments, wallets } from './tables.ts';

export function walletCreation(orm: Orm, { available }: Pick<WalletBooking, 'available'>) {
  const find = (...conditions: Parameters<typeof and>) =>
    orm
      .select()
      .from(wallets)
      .where(and(...conditions))
      .get();

  return {
    'wallets.create': ({
      wallet,
      secret,
      replaces,
    }: NewWallet): Awaited<ReturnType<WalletStore['create']>> => {
      if (!isCurrentMaster(orm, secret.kid)) return 'stale';
      const { ownerId, nodeId, backend, network, createdAt: at } = wallet;
      const isSameBook = and(eq(wallets.backend, backend), eq(wallets.network, network));
      const isInUse = isNull(wallets.replacedAt);
      const current = find(eq(wallets.ownerId, ownerId), isSameBook, isInUse);
      if (current?.id !== replaces) return 'stale';
      if (find(eq(wallets.nodeId, nodeId), isSameBook, isInUse)) return 'other-owner';
      if (current) {
        if (available(current.id) !== 0 || isAwaited(orm, current.id, at)) return 'in-use';
        orm.update(wallets).set({ replacedAt: at }).where(eq(wallets.id, current.id)).run();
      }
      const isOwnNode = and(eq(wallets.nodeId, nodeId), eq(wallets.ownerId, ownerId));
      const earlier = find(isOwnNode, isSameBook, isNotNull(wallets.replacedAt));
      if (earlier) {
        orm.update(wallets).set({ replacedAt: null }).where(eq(wallets.id, earlier.id)).run();
        return { ...wallet, id: earlier.id, workspaceId: earlier.workspaceId, createdAt: earlier.createdAt };
      }
      orm.insert(vaultSecrets).values(secret).run();
      orm
        .insert(wallets)
        .values({ ...wallet, secret: secret.name })
        .run();
      return wallet;
    },
  };
}

type NewWallet = { wallet: WalletRecord; secret: SealedSecret; replaces: string | undefined };

/** Whether a wallet has pending payments, or open invoices that can still be paid. */
function isAwaited(orm: Orm, walletId: string, at: number): boolean {
  // A node may report what it received for an expired invoice only later.
  const canBePaid = or(
    gt(invoices.expiresAt, at),
    and(ne(invoices.backend, 'embedded'), isNull(invoices.lapsedAt)),
  );
  const isUnpaid = or(eq(invoices.state, 'open'), eq(invoices.stillPayable, 1));
  const isOpen = and(eq(invoices.walletId, walletId), isUnpaid, canBePaid);
  const isPending = and(eq(payments.walletId, walletId), eq(payments.state, 'pending'));
  return (
    orm.select({ one: sql`1` }).from(invoices).where(isOpen).limit(1).get() !== undefined ||
    orm.select({ one: sql`1` }).from(payments).where(isPending).limit(1).get() !== undefined
  );
}
