import { hkdfSync } from 'node:crypto';
import { ApiError } from '../../shared/errors.ts';
import type { OnFailure } from '../base/feature.ts';
import {
  Challenges,
  CreditPurchases,
  creditPurchaseHandlers,
  PaidCalls,
  Rates,
} from '../features/payment-required/index.ts';
import { createRateLimit } from '../http/protection/rate-limit.ts';
import type { Accounts } from './accounts.ts';
import type { AppDeps } from './app-deps.ts';
import type { WalletFeature } from './wallets.ts';

interface PaymentsFeatures {
  wallets: WalletFeature;
  accounts: Pick<Accounts, 'admission' | 'isPrepaid'>;
}

/** New invoices per key and per address: enough for a burst of different calls, too few to flood the back end. */
const credentialRate = { burst: 60, perSecond: 0.5 };
const addressRate = { burst: 240, perSecond: 2 };

const paymentsUnavailable = (reason: string) =>
  new ApiError('unavailable', { message: `This host accepts no payments: ${reason}` });

/** Payment for model calls: invoices in the wallet of the host's owner, which turn into credit. */
export function createPaymentFeature(deps: AppDeps, { wallets, accounts }: PaymentsFeatures) {
  const { storage, world, settings, log } = deps;
  const { invoices, backend } = wallets;
  const store = storage.challenges;
  const elapsed = () => world.elapsed();
  const sharedBy = storage.members.count;
  const challenges = new Challenges({
    store,
    invoices,
    backend,
    world,
    passed: storage.passed.at,
    log,
    async receiver() {
      if (!settings.acceptsPayments) throw paymentsUnavailable('`payments.accept` is false.');
      // On a public host, anyone could get credit with play money.
      if (!backend().isConnected && !deps.isLocalHost)
        throw paymentsUnavailable(
          'it has no Lightning node, and play money only counts on a host for this machine alone.',
        );
      const owner = await storage.workspaces.owner();
      const wallet = owner && (await wallets.wallets.ofUser(owner.user.id));
      if (!wallet) throw paymentsUnavailable('its owner needs a wallet (gateway wallet create).');
      return wallet;
    },
    rates: new Rates({ settings: settings.rate, isPlayMoney: () => !backend().isConnected, world, log }),
    limits: {
      credential: createRateLimit({ ...credentialRate, elapsed, sharedBy }),
      address: createRateLimit({ ...addressRate, elapsed, sharedBy }),
    },
    secret: Buffer.from(hkdfSync('sha256', deps.dataKey, '', 'payment challenges', 32)),
  });
  const paidCalls = new PaidCalls({
    store,
    challenges,
    invoices,
    admission: accounts.admission,
    isPrepaid: accounts.isPrepaid,
    world,
    passed: storage.passed.at,
    publicUrl: () => settings.publicUrls.api,
  });
  const purchases = new CreditPurchases({ store, challenges, paidCalls, world });
  wallets.onInvoicePaid(({ paymentHash }) => purchases.paid(paymentHash));
  return {
    paidCalls,
    handlers: creditPurchaseHandlers(purchases, () => world.now()),
    onWritten: () => purchases.readAgain(),
    sharedJobs: [(signal: AbortSignal, onFailure: OnFailure) => purchases.keepSweeping(signal, onFailure)],
  };
}
