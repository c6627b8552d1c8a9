import { createHash } from 'node:crypto';
import { formatUsd } from '../../../shared/money/money.ts';
import { formatChallenge, type PaymentChallenge } from '../../../shared/payments/payment-scheme.ts';
import { chains, formatX402, type PaymentRequirements } from '../../../shared/payments/x402.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { InvoiceNetwork } from '../lightning/index.ts';
import { canonicalBase64Url, canonicalJson, challengeId } from './challenge-id.ts';
import type { Challenge, PaidRequest } from './store.ts';

/** How long an invoice for a call can be paid, in seconds. */
export const callExpirySeconds = 600;

/** The protection space of model calls. */
const callRealm = 'gateway';
/** Clients that know the parameter `header` keep their key in `Authorization`. */
const credentialHeader = 'Payment-Authorization';

/** Networks whose name in a Lightning charge is another one; absent for those that the charge cannot name. */
const chargeNetworks: Partial<Record<InvoiceNetwork, string>> = {
  bitcoin: 'mainnet',
  signet: 'signet',
  regtest: 'regtest',
};

/** The terms of a `Payment` challenge: an invoice, and the body that it is for. */
export interface Charge {
  /** BOLT 11, in lower case. */
  invoice: string;
  /** In hexadecimal. */
  paymentHash: string;
  network: InvoiceNetwork;
  /** Millisatoshis: a whole number of satoshis. */
  amount: number;
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** The SHA-256 of the body, in hexadecimal; null if it is not bound to one. */
  digest: string | null;
}

/** A `Payment` challenge to pay an invoice, without its id. */
export function chargeChallenge(realm: string, charge: Charge): Omit<PaymentChallenge, 'id'> {
  const { invoice, paymentHash, amount, expiresAt, digest } = charge;
  const network = chargeNetworks[charge.network];
  return {
    realm,
    method: 'lightning',
    intent: 'charge',
    request: canonicalBase64Url({
      amount: String(amount / 1000),
      currency: 'sat',
      methodDetails: { invoice, paymentHash, ...(network !== undefined && { network }) },
    }),
    expires: isoTime(expiresAt),
    ...(digest !== null && { digest: digestParameter(digest) }),
    header: credentialHeader,
  };
}

type Invoiced = Pick<Challenge, 'request'> & Omit<Charge, 'digest'>;

function callChallenge({ request, ...invoiced }: Invoiced): Omit<PaymentChallenge, 'id'> {
  return chargeChallenge(callRealm, { ...invoiced, digest: request?.digest ?? null });
}

/** The id of a new challenge. */
export function newChallengeId(secret: Uint8Array, challenge: Invoiced): string {
  return challengeId(secret, callChallenge(challenge));
}

export function paymentChallengeOf(challenge: Challenge): PaymentChallenge {
  return { id: challenge.id, ...callChallenge(challenge) };
}

/** A digest in hexadecimal, as RFC 9530 writes it. */
function digestParameter(digest: string): string {
  return `sha-256=:${Buffer.from(digest, 'hex').toString('base64')}:`;
}

/**
 * What x402 clients may pay: the invoice as a claim, and, if the invoice commits to the request, its preimage. Sources: the
 * schemes `exact_lightning` and `exact_lnbtc` of the x402 project.
 */
export function requirementsOf(challenge: Challenge): PaymentRequirements[] {
  const { network, amount, invoice, commitment } = challenge;
  const claim = {
    scheme: 'exact',
    network: `bip122:${chains[network]}`,
    amount: String(amount),
    asset: 'BTC',
    payTo: 'anonymous',
    maxTimeoutSeconds: callExpirySeconds,
    extra: { paymentMethod: 'lightning', invoice },
  };
  if (!commitment) return [claim];
  const { payee: payTo, requestHash } = commitment;
  const extra = {
    assetTransferMethod: 'bolt11',
    paymentFlow: 'upfront',
    invoice,
    requestHash,
    requestBindingProfile: 'http:1',
    requestBindingParams: { headers: [] },
  };
  return [claim, { ...claim, network: `lnbtc:${chains[network]}`, payTo, extra }];
}

/** Whether invoices of a network can commit to a request. */
export function canCommit(network: InvoiceNetwork): boolean {
  return network === 'bitcoin' || network === 'testnet';
}

/** The hash by which an invoice commits to an HTTP request. Source: `exact_lnbtc`, profile `http:1`. */
export function requestHashOf({ method, digest }: PaidRequest, url: string): string {
  const binding = {
    domain: 'x402:exact:lnbtc:bolt11:http:1',
    method,
    url,
    bodyHash: digest,
    headers: [],
  };
  return createHash('sha256').update(canonicalJson(binding)).digest('hex');
}

/** The headers of a 402, and the member `pay` of its error. */
export function offerOf(challenge: Challenge, { url, error }: { url: string; error: string }) {
  const required = {
    x402Version: 2,
    error,
    resource: { url, description: 'A model call', mimeType: 'application/json' },
    accepts: requirementsOf(challenge),
  } as const;
  return {
    headers: {
      'payment-required': formatX402(required),
      'www-authenticate': formatChallenge(paymentChallengeOf(challenge)),
      'cache-control': 'no-store',
    },
    pay: {
      methods: ['lightning', 'credit'],
      challenge_id: challenge.id,
      invoice: challenge.invoice,
      payment_hash: challenge.paymentHash,
      amount_sats: challenge.amount / 1000,
      amount_msats: challenge.amount,
      usd: formatUsd(challenge.credit),
      usd_per_btc: formatUsd(challenge.rate.perBitcoin),
      expires_at: isoTime(challenge.expiresAt),
    },
  };
}
