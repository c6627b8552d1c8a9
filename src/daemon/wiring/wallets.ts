import type { EventFeed } from '../features/events/index.ts';
import type { Idempotency } from '../features/idempotency/index.ts';
import type { LightningBackend } from '../features/lightning/index.ts';
import { createDataSealer, type Vault } from '../features/vault/index.ts';
import {
  type BackendTerms,
  BackendWatch,
  backendHandlers,
  createInvoices,
  createWallets,
  embeddedBackend,
  type InvoiceRecord,
  type KnownState,
  lapseGraceMs,
  Payments,
  paymentHandlers,
  Reconciliation,
  trustNode,
  UnpaidInvoices,
  WalletMarks,
  walletHandlers,
  walletJobs,
  withTrustedNode,
} from '../features/wallet/index.ts';
import { peerAddressProblem, portOf } from '../reverse-proxy/address-guard.ts';
import { backendSecretName, createLightning, secretFault } from '../upstream/lightning/configured-backend.ts';
import type { AppDeps } from './app-deps.ts';

interface WalletsFeatures {
  vault: Vault;
  events: Pick<EventFeed, 'announce'>;
  idempotency: Pick<Idempotency, 'once'>;
}

export type WalletFeature = ReturnType<typeof createWalletFeature>;
type PaidListener = (invoice: InvoiceRecord) => Promise<void>;

/** Wallets, their invoices and payments, over the Lightning back end. */
export function createWalletFeature(deps: AppDeps, { vault, events, idempotency }: WalletsFeatures) {
  const { storage, world, makeId, log } = deps;
  const store = storage.wallets;
  const sealer = createDataSealer(deps.dataKey, (count) => world.randomBytes(count));
  const embedded = embeddedBackend({ nodeKeyOf: (walletId) => wallets.nodeKeyOf(walletId), world });
  const lightning = createLightning({ ...deps.connecting, settings: deps.settings, embedded, vault, world });
  const trusted = new WeakMap<LightningBackend, LightningBackend>();
  const backend = (): LightningBackend => {
    const current = lightning.backend();
    const found = trusted.get(current) ?? withTrustedNode(current, { store, world });
    trusted.set(current, found);
    return found;
  };
  const wallets = createWallets({
    store,
    vault,
    backend,
    makeId,
    world,
    homeOf: (userId) => storage.workspaces.homeOf(userId),
    isLocalHost: deps.isLocalHost,
  });
  const paidListeners: PaidListener[] = [];
  const unpaid = new UnpaidInvoices({ world, store, graceMs: lapseGraceMs });
  const onPaid = async (invoice: InvoiceRecord): Promise<void> => {
    unpaid.paid(invoice);
    const failed = (err: unknown) =>
      log.warn({ err, invoice: invoice.id }, 'a paid invoice could not be credited yet');
    await Promise.all(paidListeners.map((listener) => listener(invoice).catch(failed)));
  };
  const announce = ({ workspaceId }: { workspaceId: string }) => events.announce({ workspaceId });
  const marks = new WalletMarks(deps.dataKey, (count) => world.randomBytes(count));
  const both = { store, wallets, backend, sealer, marks, unpaid, announce, onPaid, makeId, world, log };
  const invoices = createInvoices({ ...both, sure: storage.passed.sure });
  const payments = new Payments({ ...both, settings: deps.settings });

  const reconciliation = new Reconciliation({ ...both, payments, invoices });
  const { secretSource } = lightning;
  const unreconciled = () => reconciliation.problems();
  const watch = new BackendWatch({ store, backend, secretSource, unreconciled, world, log });
  // Only a configured back end is trusted.
  const unchanging = { trustedNode: store.trustedNode, trustNode: async () => false };
  const isPublic = (url: URL) =>
    peerAddressProblem(url, { mayBePrivate: false }, portOf(new URL(deps.process.url()))) === undefined;
  const owners = {
    trustNode: (nodeId: string, signal: AbortSignal) =>
      trustNode(lightning.backend(), { store, world }, { nodeId, signal }),
    connectOnce: (terms: BackendTerms) =>
      withTrustedNode(lightning.connectOnce(terms), { store: unchanging, world }),
    watch,
    wallets,
    payments,
    reconciliation,
    vault,
    secretName: backendSecretName,
    secretFault,
    now: () => world.now(),
  };
  const handlersDeps = {
    wallets,
    invoices,
    payments,
    idempotency,
    lnurlPay: { isPublic, world },
    settings: deps.settings,
    now: () => world.now(),
  };
  return {
    wallets,
    invoices,
    payments,
    /** The last known state of the back end, for the owner of the host. */
    async backendState(): Promise<KnownState> {
      const known = watch.known();
      if (backend().isConnected) return known;
      const { state, reason } = await vault.status();
      const isLocked = state === 'sealed' || state === 'wrong_key';
      const owner = isLocked ? await storage.workspaces.owner() : undefined;
      if (!owner || !(await wallets.ofUser(owner.user.id))) return known;
      const problem = `Wallets cannot issue invoices while the vault is locked. ${reason}`;
      return { ...known, state: 'limited', problems: [problem] };
    },
    backend,
    handlers: [...walletHandlers(handlersDeps), ...paymentHandlers(handlersDeps), ...backendHandlers(owners)],
    /** Calls a listener with each invoice that was paid, after that is on disk. */
    onInvoicePaid: (listener: PaidListener) => void paidListeners.push(listener),
    ...walletJobs({
      ...both,
      followUpMs: deps.connecting.followUpMs,
      payments,
      invoices,
      reconciliation,
      watch,
    }),
    takeOver: (daemon: number) => store.adoptPayments(daemon),
    async close() {
      await payments.close();
      await lightning.close();
    },
  };
}
