import type { OnFailure } from '../../base/feature.ts';
import { fromNowOn, type World } from '../../base/world.ts';
import type { LightningBackend } from '../lightning/index.ts';
import type { BackendWatch } from './backend-watch.ts';
import type { Invoices } from './invoices.ts';
import type { Payments } from './payments.ts';
import type { Reconciliation } from './reconciliation.ts';

/** Comparing wallets with their node reads its history. */
const followUpsPerReconciliation = 12;

interface WalletWork {
  world: Pick<World, 'sleep'>;
  /** How often open payments and invoices are followed at the back end. */
  followUpMs: number;
  backend: () => Pick<LightningBackend, 'isConnected'>;
  payments: Pick<Payments, 'followUp'>;
  invoices: Pick<Invoices, 'collect'>;
  reconciliation: Pick<Reconciliation, 'runIfOpen'>;
  watch: Pick<BackendWatch, 'check' | 'keepChecking'>;
}

/** What follows payments and invoices at the back end, and compares wallets with it. */
export function walletJobs({
  world,
  followUpMs,
  backend,
  payments,
  invoices,
  reconciliation,
  watch,
}: WalletWork) {
  const keep =
    (everyMs: number, work: (signal: AbortSignal) => Promise<void>) =>
    (signal: AbortSignal, onFailure: OnFailure) =>
      fromNowOn(world, { everyMs, signal, onFailure }, () => work(signal));
  return {
    jobs: [
      // Payments are followed up by the daemon that sent them, or took them over.
      keep(followUpMs, async (signal) => {
        if (backend().isConnected) await payments.followUp(signal);
      }),
      (signal: AbortSignal, onFailure: OnFailure) => watch.keepChecking(signal, onFailure),
    ],
    sharedJobs: [
      keep(followUpMs, async (signal) => {
        if (backend().isConnected) await invoices.collect(signal);
      }),
      keep(followUpsPerReconciliation * followUpMs, async (signal) => {
        if (await reconciliation.runIfOpen(signal)) await watch.check(signal);
      }),
    ],
  };
}
