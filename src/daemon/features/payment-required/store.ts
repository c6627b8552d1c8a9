import type { NanoUsd } from '../../../shared/money/money.ts';
import type { InvoiceNetwork } from '../lightning/index.ts';

/** The price of a bitcoin at a time. */
export interface Rate {
  /** Nano-dollars. */
  perBitcoin: NanoUsd;
  /** `config`, `default`, or the host that it was fetched from. */
  source: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** The request that a payment is for. */
export interface PaidRequest {
  method: string;
  path: string;
  /** The SHA-256 of the body, in hexadecimal. */
  digest: string;
}

/**
 * An invoice that turns into credit: for one call, or bought in advance. Times are milliseconds since 1970. Its exchange
 * rate never changes.
 */
export interface Challenge {
  /** The id of the `Payment` challenge. */
  id: string;
  workspaceId: string;
  /** The key, login or agent that it was issued to. */
  credentialId: string;
  /** Null for credit bought in advance. */
  request: PaidRequest | null;
  invoiceId: string;
  /** The BOLT 11 text in lower case. */
  invoice: string;
  /** In hexadecimal. */
  paymentHash: string;
  network: InvoiceNetwork;
  /** Set if the invoice commits to the request: the SHA-256 that it contains, and who signed it, in hexadecimal. */
  commitment: { requestHash: string; payee: string } | null;
  /** Millisatoshis: a whole number of satoshis. */
  amount: number;
  /** The value of the amount. */
  credit: NanoUsd;
  rate: Rate;
  createdAt: number;
  expiresAt: number;
  /** When it became credit; null until then. */
  usedAt: number | null;
}

/** `unpaid`: the invoice is not paid. `used`: it is credit already. `too-much`: the balance would exceed its maximum. */
export type Redemption = 'redeemed' | 'unpaid' | 'used' | 'too-much';

/** Each method is one transaction. */
export interface ChallengesStore {
  add(challenge: Challenge): Promise<void>;
  find(id: string): Promise<Challenge | undefined>;
  byPaymentHash(paymentHash: string): Promise<Challenge | undefined>;
  byInvoice(invoice: string): Promise<Challenge | undefined>;
  /** The unused challenge for a request that expires last, after `expiresAfter`. */
  openFor(credentialId: string, request: PaidRequest, expiresAfter: number): Promise<Challenge | undefined>;
  /** Turns a challenge whose invoice is paid into credit, once, with its ledger entry and event. */
  redeem(redemption: { id: string; at: number }): Promise<Redemption>;
  /** Paid challenges that no call will redeem: credit bought in advance, and calls whose challenge expired by `at`. */
  redeemable(at: number, limit: number): Promise<Challenge[]>;
  /** Deletes unpaid challenges that expired before a time, with their invoices; returns their number. */
  removeExpired(before: number, limit: number): Promise<number>;
}
