import { buyCredit, type CreditPurchase, getCreditPurchase } from '../../../shared/contract/credit.ts';
import { formatUsd } from '../../../shared/money/money.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Handler, identified, implement } from '../../base/handler.ts';
import type { CreditPurchases } from './credit-purchases.ts';
import type { Challenge } from './store.ts';

/** The endpoints for buying credit. */
export function creditPurchaseHandlers(purchases: CreditPurchases, now: () => number): Handler[] {
  return [
    implement(buyCredit, async ({ caller, remoteAddress = '', body }) =>
      purchaseView(await purchases.start({ caller: identified(caller), remoteAddress }, body), now()),
    ),
    implement(getCreditPurchase, async ({ caller, params, query }) => {
      const { wait_seconds: waitSeconds = 0 } = query;
      const { workspaceId } = identified(caller);
      return purchaseView(await purchases.find(workspaceId, params.id, waitSeconds * 1000), now());
    }),
  ];
}

function purchaseView(challenge: Challenge, now: number): CreditPurchase {
  const { id, workspaceId, invoice, paymentHash, amount, credit, rate, createdAt, expiresAt, usedAt } =
    challenge;
  const unpaid = expiresAt <= now ? 'expired' : 'open';
  return {
    id,
    object: 'credit_purchase',
    workspace: workspaceId,
    status: usedAt === null ? unpaid : 'paid',
    invoice,
    payment_hash: paymentHash,
    amount_sats: amount / 1000,
    usd: formatUsd(credit),
    usd_per_btc: formatUsd(rate.perBitcoin),
    rate_source: rate.source,
    rate_at: isoTime(rate.at),
    created_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
    paid_at: usedAt === null ? null : isoTime(usedAt),
  };
}
