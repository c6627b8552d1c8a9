import type { MakeId } from '../../shared/ids.ts';
import type { EventFeed } from '../features/events/index.ts';
import type { Idempotency } from '../features/idempotency/index.ts';
import type { LightningBackend } from '../features/lightning/index.ts';
import { createDataSealer, type Vault } from '../features/vault/index.ts';
import {
  embeddedBackend,
  invoices as makeInvoices,
  wallets as makeWallets,
  Payments,
  paymentHandlers,
  walletHandlers,
} from '../features/wallet/index.ts';
import type { Handler } from '../handler.ts';
import type { Storage } from '../storage/storage.ts';
import { repeatedly, type World } from '../world.ts';

interface WalletsDeps {
  storage: Pick<Storage, 'wallets' | 'workspaces'>;
  world: World;
  makeId: MakeId;
  live: { readonly paymentHosts: readonly string[] };
  /** 32 bytes. */
  dataKey: Uint8Array;
  isLocalHost: boolean;
  log: { warn(details: object, message: string): void };
}

interface WalletsFeatures {
  vault: Vault;
  events: Pick<EventFeed, 'announce'>;
  idempotency: Pick<Idempotency, 'once'>;
}

const followUpEveryMs = 5_000;
const openInvoicesMax = 200;
/** How long after its expiry an invoice is still looked up: a payment may be under way when it expires. */
const collectGraceMs = 10 * 60 * 1000;

/** Wallets, their invoices and payments, over the Lightning back end. */
export function createWallets(deps: WalletsDeps, { vault, events, idempotency }: WalletsFeatures) {
  const { storage, world, makeId, log } = deps;
  const store = storage.wallets;
  const sealer = createDataSealer(deps.dataKey, (count) => world.randomBytes(count));
  const backend: LightningBackend = embeddedBackend({
    nodeKeyOf: (walletId) => wallets.nodeKeyOf(walletId),
    world,
  });
  const wallets = makeWallets({
    ...{ store, vault, backend, makeId, world },
    homeOf: (userId) => storage.workspaces.homeOf(userId),
    isLocalHost: deps.isLocalHost,
  });
  const invoices = makeInvoices({ store, wallets, backend, sealer, makeId, world });
  const announce = ({ workspaceId }: { workspaceId: string }) => events.announce({ workspaceId });
  const payments = new Payments({
    ...{ store, wallets, backend, sealer, announce, makeId, world, log },
    settings: deps.live,
  });

  const followUp = async (signal: AbortSignal): Promise<void> => {
    await payments.followUp(signal);
    const since = world.now() - collectGraceMs;
    for (const { walletId } of await invoices.collect({ since, limit: openInvoicesMax, signal })) {
      const wallet = await store.find(walletId);
      if (wallet) announce(wallet);
    }
  };

  const handlersDeps = { wallets, invoices, payments, backend, idempotency, now: () => world.now() };
  const handlers: Handler[] = [...walletHandlers(handlersDeps), ...paymentHandlers(handlersDeps)];
  return {
    handlers,
    /** Follows payments and invoices at the back end until aborted, starting with those of an earlier daemon. */
    async runBackground(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
      if (!backend.isConnected) return;
      await followUp(signal).catch(onFailure);
      await repeatedly(world, { everyMs: followUpEveryMs, signal, onFailure }, () => followUp(signal));
      await payments.close();
    },
  };
}
