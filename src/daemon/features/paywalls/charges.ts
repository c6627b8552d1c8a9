import { createHash } from 'node:crypto';
import { formatReceipt, type PaymentChallenge } from '../../../shared/payments/payment-scheme.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { loadBolt11 } from '../lightning/index.ts';
import {
  challengeId,
  chargeChallenge,
  credentialMismatch,
  type LightningCredential,
  lightningCredentialIn,
  type RefusalReason,
} from '../payment-required/index.ts';
import type { ChargedRequest, ChargeRecord } from './store.ts';

/*
 * Payments by the `Payment` scheme. Where L402 sells a token, a charge pays for one request: the one with the method, path
 * and body that was answered with the challenge.
 */

/** Why a `Payment` credential is not accepted. */
export type ChargeProblem = Exclude<RefusalReason, 'invoice_unpaid'> | 'other_paywall';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The `Payment` credential of a request; undefined for none, `malformed` if it cannot be read. */
export function chargeCredential(headers: Headers): LightningCredential | 'malformed' | undefined {
  const { authorization = '', 'payment-authorization': header } = headers;
  if (header !== undefined) return lightningCredentialIn(String(header)) ?? 'malformed';
  if (!/^\s*Payment\s/i.test(String(authorization))) return undefined;
  return lightningCredentialIn(String(authorization).trim()) ?? 'malformed';
}

const emptyDigest = sha256(new Uint8Array());

/** What a payment for a request is bound to; undefined if its body is too long to be compared. */
export async function chargedRequest(request: {
  method: string;
  target: string;
  readBody: () => Promise<Uint8Array | undefined>;
}): Promise<ChargedRequest | undefined> {
  const { method, target } = request;
  const body = await request.readBody();
  return body && { method, target, digest: sha256(body) };
}

interface Charge {
  /** The name of the paywall. */
  realm: string;
  /** BOLT 11. */
  invoice: string;
  /** In hexadecimal. */
  paymentHash: string;
  /** Millisatoshis. */
  amount: number;
  /** Milliseconds since 1970. */
  expiresAt: number;
  request: ChargedRequest;
}

/** The challenge that asks for a charge. The same charge has the same challenge. */
export async function challengeOf(
  secret: Uint8Array,
  { realm, request, ...invoiced }: Charge,
): Promise<PaymentChallenge> {
  const { decodeInvoice } = await loadBolt11();
  const { network } = decodeInvoice(invoiced.invoice);
  // Without a body there is nothing to bind to; clients may not expect a digest then.
  const digest = request.digest === emptyDigest ? null : request.digest;
  const challenge = chargeChallenge(realm, { ...invoiced, network, digest });
  return { id: challengeId(secret, challenge), ...challenge };
}

/** Why a credential does not pay for a request; undefined if it does, unless it was used before. */
export async function chargeProblem(
  { credential, preimage }: LightningCredential,
  { charge, challenge, request, now }: PresentedCharge,
): Promise<ChargeProblem | undefined> {
  const mismatch = credentialMismatch(credential, challenge);
  if (mismatch === 'invoice_unpaid') throw new TypeError('a mismatch does not depend on the payment');
  if (mismatch !== undefined) return mismatch;
  if (sha256(Buffer.from(preimage, 'hex')) !== charge.paymentHash) return 'invalid_preimage';
  const { method, target, digest } = charge.request;
  if (request.method !== method || request.target !== target) return 'request_mismatch';
  if ((await chargedRequest(request))?.digest !== digest) return 'request_mismatch';
  // Invoices expire earlier and cannot be paid then; what was paid in time is honoured for as long as a token.
  return charge.expiresAt <= now ? 'expired' : undefined;
}

export interface PresentedCharge {
  charge: ChargeRecord;
  /** As it was issued. */
  challenge: PaymentChallenge;
  request: Parameters<typeof chargedRequest>[0];
  /** Milliseconds since 1970. */
  now: number;
}

/** The value of `Payment-Receipt`. It names the payment hash, never the preimage. */
export function receiptOf({ paymentId, paymentHash }: ChargeRecord, now: number): string {
  return formatReceipt({
    status: 'success',
    method: 'lightning',
    reference: paymentHash,
    timestamp: isoTime(now),
    ...(paymentId !== null && { challengeId: paymentId }),
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
