import { bareInvoice } from '../../../shared/payments/bare-invoice.ts';
import {
  lightningChargeIn,
  type PaymentChallenge,
  type PaymentCredential,
  parseCredential,
} from '../../../shared/payments/payment-scheme.ts';
import { type PaymentPayload, parsePaymentPayload } from '../../../shared/payments/x402.ts';
import { trimEnd } from '../../../shared/text/trim-text.ts';
import { paymentChallengeOf, requirementsOf } from './offer.ts';
import type { Challenge } from './store.ts';

/** Why a payment is not accepted. */
export type RefusalReason =
  | 'malformed_credential'
  | 'unknown_challenge'
  | 'already_used'
  | 'expired'
  | 'invalid_preimage'
  | 'invoice_unpaid'
  | 'amount_mismatch'
  | 'network_mismatch'
  | 'request_mismatch';

/** A `Payment` credential with the preimage of an invoice, in lowercase hexadecimal. */
export interface LightningCredential {
  credential: PaymentCredential;
  preimage: string;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The payment that a request presents. `x402` may claim that the invoice is paid, without a proof of its own. */
export type Proof =
  | ({ scheme: 'payment' } & LightningCredential)
  | { scheme: 'x402'; payment: PaymentPayload; claims: string; preimage?: never }
  | { scheme: 'x402'; payment: PaymentPayload; claims?: never; preimage: string };

const isPaymentScheme = /^payment /i;

/** Whether a request carries a payment, well-formed or not. */
export function carriesPayment(headers: Headers): boolean {
  const { authorization } = headers;
  return (
    headers['payment-signature'] !== undefined ||
    headers['payment-authorization'] !== undefined ||
    (typeof authorization === 'string' && isPaymentScheme.test(authorization))
  );
}

/** The payment of a request that carries one; undefined if it is malformed. */
export function proofIn(headers: Headers): Proof | undefined {
  const signature = headers['payment-signature'];
  if (signature !== undefined) return typeof signature === 'string' ? x402Proof(signature) : undefined;
  const credential = headers['payment-authorization'] ?? headers.authorization;
  const proof = typeof credential === 'string' ? lightningCredentialIn(credential) : undefined;
  return proof && { scheme: 'payment', ...proof };
}

const preimageFormat = /^[0-9a-f]{64}$/i;

/** The `Payment` credential in a header; undefined for another scheme, or if it is malformed. */
export function lightningCredentialIn(header: string): LightningCredential | undefined {
  const credential = parseCredential(header);
  const preimage = credential?.payload.preimage;
  if (!credential || typeof preimage !== 'string' || !preimageFormat.test(preimage)) return undefined;
  return { credential, preimage: preimage.toLowerCase() };
}

function x402Proof(header: string): Proof | undefined {
  const payment = parsePaymentPayload(header);
  if (!payment) return undefined;
  const { invoice, preimage } = payment.payload;
  if (typeof preimage === 'string') {
    return preimageFormat.test(preimage)
      ? { scheme: 'x402', payment, preimage: preimage.toLowerCase() }
      : undefined;
  }
  return typeof invoice === 'string'
    ? { scheme: 'x402', payment, claims: bareInvoice(invoice).toLowerCase() }
    : undefined;
}

/** Why a proof does not have the terms of a challenge; undefined if it has. */
export function termsMismatch(proof: Proof, challenge: Challenge): RefusalReason | undefined {
  return proof.scheme === 'payment'
    ? credentialMismatch(proof.credential, paymentChallengeOf(challenge))
    : paymentMismatch(proof.payment, challenge);
}

/**
 * Why a credential does not answer the challenge that was issued; undefined if it does. Clients may leave out `expires`,
 * `digest` and what else is optional.
 */
export function credentialMismatch(
  { challenge: echoed }: PaymentCredential,
  issued: PaymentChallenge,
): RefusalReason | undefined {
  if (trimEnd(echoed.request, '=') !== issued.request) {
    const [presented, expected] = [lightningChargeIn(echoed), lightningChargeIn(issued)];
    if (!presented || !expected) return 'malformed_credential';
    if (presented.amount !== expected.amount) return 'amount_mismatch';
    if (presented.methodDetails.network !== expected.methodDetails.network) return 'network_mismatch';
    return 'unknown_challenge';
  }
  if (echoed.digest !== undefined && echoed.digest !== issued.digest) return 'request_mismatch';
  const isSame = (['realm', 'method', 'intent'] as const).every((name) => echoed[name] === issued[name]);
  const isTimeSame = echoed.expires === undefined || echoed.expires === issued.expires;
  return isSame && isTimeSame ? undefined : 'unknown_challenge';
}

function paymentMismatch({ accepted }: PaymentPayload, challenge: Challenge) {
  const offered = requirementsOf(challenge);
  const issued = offered.find(({ network }) => network === accepted.network);
  if (!issued) return 'network_mismatch';
  if (String(accepted.amount) !== issued.amount) return 'amount_mismatch';
  const isSame = (['scheme', 'asset', 'payTo'] as const).every((name) => accepted[name] === issued[name]);
  return isSame ? undefined : 'unknown_challenge';
}
