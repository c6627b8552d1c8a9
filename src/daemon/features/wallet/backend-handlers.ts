import {
  checkWalletBackend,
  deleteWalletSecret,
  fundWallet,
  getWalletBackend,
  putWalletSecret,
  reconcileWallets,
  resolvePayment,
  trustNode,
  type WalletReconciliation,
} from '../../../shared/contract/wallet-backend.ts';
import { inputFault } from '../../../shared/faults/input-faults.ts';
import type { ConnectedBackend, LightningNetwork } from '../../../shared/payments/wallet-backends.ts';
import { isoTime, parseTime } from '../../../shared/time/time.ts';
import { actingUser, type Handler, implement } from '../../base/handler.ts';
import type { LightningBackend } from '../lightning/index.ts';
import type { Vault } from '../vault/index.ts';
import type { BackendWatch } from './backend-watch.ts';
import type { Payments } from './payments.ts';
import type { Reconciliation, ReconciliationReport } from './reconciliation.ts';
import type { Wallets } from './wallets.ts';

export interface BackendHandlersDeps {
  watch: Pick<BackendWatch, 'check' | 'inspect'>;
  wallets: Pick<Wallets, 'fund' | 'balanceOf'>;
  trustNode: (nodeId: string, signal: AbortSignal) => Promise<void>;
  /** A back end that is not configured, to be closed. */
  connectOnce: (terms: BackendTerms) => LightningBackend;
  payments: Pick<Payments, 'resolve'>;
  reconciliation: Pick<Reconciliation, 'run'>;
  vault: Pick<Vault, 'keep' | 'forget'>;
  /** The name of a back end's secret in the vault. */
  secretName: (backend: ConnectedBackend) => string;
  /** The fault of a secret: `must be …`; undefined if it is valid. */
  secretFault: (backend: ConnectedBackend, secret: string) => string | undefined;
  now: () => number;
}

/** The address and secret of a back end. */
export interface BackendTerms {
  backend: ConnectedBackend;
  secret: string;
  url: string | undefined;
  certificateFile: string | undefined;
  network: LightningNetwork | undefined;
}

/** The endpoints for the owner of the host. */
export function backendHandlers({
  watch,
  wallets,
  payments,
  reconciliation,
  trustNode: trust,
  connectOnce,
  vault,
  secretName,
  secretFault,
  now,
}: BackendHandlersDeps): Handler[] {
  return [
    implement(getWalletBackend, ({ signal }) => watch.check(signal)),

    implement(checkWalletBackend, async ({ body, signal }) => {
      const { backend: name, secret, url, certificate_file: certificateFile, network } = body;
      const fault = secretFault(name, secret);
      if (fault !== undefined) throw inputFault('secret', fault);
      const backend = connectOnce({ backend: name, secret, url, certificateFile, network });
      try {
        const { state, problems } = await watch.inspect(backend, signal);
        return { state, problems };
      } finally {
        await backend.close?.();
      }
    }),

    implement(trustNode, async ({ body, signal }) => {
      await trust(body.node_id, signal);
      return await watch.check(signal);
    }),

    implement(reconcileWallets, async ({ caller, body, signal }) => {
      const since = body?.since === undefined ? undefined : parseTime(body.since);
      if (body?.since !== undefined && !(since !== undefined && since >= 0 && since <= now()))
        throw inputFault('since', 'must be a time in the past');
      const report = await reconciliation.run(
        {
          since,
          assigned: new Map(body?.assign?.map((each) => [each.payment_hash, each.wallet])),
          acceptedBy: body?.accept === true ? actingUser(caller).userId : undefined,
        },
        signal,
      );
      await watch.check(signal);
      return reconciliationView(report);
    }),

    implement(putWalletSecret, async ({ params: { backend }, body }) => {
      const fault = secretFault(backend, body.secret);
      if (fault !== undefined) throw inputFault('secret', fault);
      await vault.keep(secretName(backend), Buffer.from(body.secret));
      return { backend, sealed: true };
    }),

    implement(deleteWalletSecret, async ({ params: { backend } }) => {
      await vault.forget(secretName(backend));
      return { id: backend, object: 'wallet_secret', deleted: true };
    }),

    implement(fundWallet, async ({ caller, body, signal }) => {
      const wallet = await wallets.fund(caller, body.amount_sats, signal);
      const { available } = await wallets.balanceOf(wallet);
      return { wallet_id: wallet.id, balance_msats: available };
    }),

    implement(resolvePayment, async ({ caller, params, body }) => {
      const { userId } = actingUser(caller);
      const { outcome, fee_msats: fee, preimage } = body;
      const resolved = await payments.resolve(params.payment, { outcome, fee, preimage, userId });
      return {
        id: resolved.id,
        object: 'payment',
        status: outcome === 'paid' ? 'succeeded' : 'failed',
        amount_msats: resolved.amount,
        fee_msats: resolved.fee,
        resolved_by: userId,
        resolved_at: isoTime(resolved.settledAt ?? now()),
      };
    }),
  ];
}

const listedMax = 200;

function reconciliationView(report: ReconciliationReport): WalletReconciliation {
  const { backend, network, record, problems, booked, unexplained, held, owed } = report;
  return {
    backend,
    network,
    state: record === undefined ? 'none' : record.endedAt === null ? 'open' : 'ended',
    since: record === undefined ? null : isoTime(record.since),
    ended_at: record === undefined || record.endedAt === null ? null : isoTime(record.endedAt),
    accepted_by: record?.acceptedBy ?? null,
    problems,
    booked,
    unexplained: unexplained
      .slice(0, listedMax)
      .map(({ kind, paymentHash, amountMsat, feeMsat, at, reason, wallet, payee, description }) => ({
        kind,
        payment_hash: paymentHash,
        amount_msats: amountMsat,
        fee_msats: feeMsat,
        at: isoTime(at),
        reason,
        wallet: wallet?.id ?? null,
        payee,
        description,
      })),
    unexplained_count: unexplained.length,
    balance_msats: held,
    owed_msats: owed,
  };
}
